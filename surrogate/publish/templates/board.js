/* The board: one language, or a search */
(() => {
  const { address, element, find, fixed, named, numberCell, percent, range, whole } = site;
  const data = JSON.parse(find("data").textContent);
  const select = find("language");
  const search = find("search");
  const table = find("language-table");

  function systemHeader(place, note = "") {
    const [name, slug] = data.systems[place];
    const header = element("th", undefined, { scope: "row" });
    const link = element("a", undefined, { href: `systems/${slug}.html`, className: "name" });
    link.append(element("bdi", name));
    header.append(link);
    if (note) header.append(element("span", note, { className: "quiet remark" }));
    return header;
  }
  function languageRow(row, tied) {
    const made = element("tr");
    const ranked = numberCell(row.rank, whole(row.rank), "num rank");
    if (tied.has(row.rank)) ranked.append(element("abbr", "=", { className: "tie", title: "tied" }));
    const ranks = numberCell(row.rank_low, range(row.rank_low, row.rank_high));
    ranks.dataset.high = row.rank_high ?? "";
    const kind = row.kind === null ? "" : data.splits[row.kind];
    made.append(
      ranked,
      systemHeader(row.index, row.note),
      ranks,
      numberCell(row.tier, whole(row.tier)),
      numberCell(row.rating, fixed(row.rating, 2)),
      site.intervalCell(row.low, row.high),
      numberCell(row.verdict_share, percent(row.verdict_share)),
      numberCell(row.surrogate_rating, fixed(row.surrogate_rating, 2)),
      numberCell(row.arena_rating, fixed(row.arena_rating, 2)),
      numberCell(row.coverage, percent(row.coverage)),
      element("td", kind, { className: "set" }),
    );
    return made;
  }
  /* Columns that say nothing on some boards: place in the table, and whether a row fills it */
  const OPTIONAL = [
    [2, (row) => row.rank_low !== null],
    [3, (row) => row.tier !== null],
    [5, (row) => row.low !== null],
    [6, () => !data.first],
    [7, (row) => row.surrogate_rating !== null],
    [8, (row) => row.arena_rating !== null],
    [9, (row) => row.coverage !== 1],
    [10, (row) => row.kind !== 0 && !data.first],
  ];
  function hideAbsentColumns(rows) {
    for (const [column, fills] of OPTIONAL) {
      const absent = !rows.some(fills);
      for (const row of table.rows) row.cells[column].classList.toggle("absent-column", absent);
    }
  }
  /* What the language's scores mean, as the macro "told" has it for all languages */
  function showTold(sentences) {
    const list = find("language-told");
    const items = sentences.map(([sentence, warns]) => {
      const item = element("li", undefined, { className: warns ? "warning" : "" });
      if (warns) item.append(element("strong", "Caution."), " ");
      item.append(sentence);
      return item;
    });
    list.replaceChildren(...items);
    list.classList.toggle("warning", sentences.some(([, warns]) => warns));
    list.hidden = sentences.length === 0;
  }
  function showLanguage(code) {
    const { name, told, pairs, picture, rows: kept } = data.languages[code];
    showTold(told.map(([sentence, warns]) => [`${name}: ${sentence}`, warns]));
    const rows = kept.map((values) => named(data.columns, values));
    const seen = new Set();
    const tied = new Set();
    for (const { rank } of rows) (seen.has(rank) && rank !== null ? tied : seen).add(rank);
    const byRank = [...rows].sort((a, b) => (a.rank ?? Infinity) - (b.rank ?? Infinity));
    table.tBodies[0].replaceChildren(...byRank.map((row) => languageRow(row, tied)));
    table.dataset.part = code;
    hideAbsentColumns(rows);
    for (const header of table.tHead.rows[0].cells) header.removeAttribute("aria-sort");
    table.tHead.rows[0].cells[0].setAttribute("aria-sort", "ascending");
    site.renewed(table);
    const ranked = rows.filter((row) => row.rank !== null).length;
    find("language-caption").textContent =
      `${name}: ${ranked} of ${rows.length} systems ranked; ratings in ${data.scale}`;
    const image = find("language-picture");
    image.hidden = !picture;
    image.alt = `Ratings in ${name} with their intervals; the table has the numbers`;
    if (picture) image.src = picture;
    const link = find("language-pairs");
    link.href = `pairs/${pairs}.html`;
    link.textContent = `Two systems head to head in ${name}, and their answers side by side`;
  }
  function showSearch() {
    const shown = select.value ? table : find("overall-table");
    if (!shown) return;
    const counted = site.filter(shown, search.value, (row) => row.cells[1].textContent);
    find("shown").textContent = `${counted} systems shown`;
  }
  function show() {
    const code = select.value;
    find("overall").hidden = code !== "";
    find("one-language").hidden = code === "";
    if (code) showLanguage(code);
    showSearch();
  }
  function fromAddress() {
    const code = address.get("language");
    const codes = Object.keys(data.languages);
    const only = codes.length === 1 ? codes[0] : "";
    select.value = Object.hasOwn(data.languages, code) ? code : only;
    search.value = address.get("find");
    show();
  }
  select.addEventListener("change", () => {
    address.set({ language: select.value });
    show();
  });
  search.addEventListener("input", () => {
    address.set({ find: search.value });
    showSearch();
  });
  find("controls").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", fromAddress);
  find("controls").hidden = false;
  fromAddress();
})();
