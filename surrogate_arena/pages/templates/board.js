/* The board: one language, or a search */
(() => {
  const { address, element, find, fixed, named, numberCell, percent, range, whole } = site;
  const data = JSON.parse(find("data").textContent);
  const select = find("language");
  const search = find("search");
  const table = find("language-table");
  const headers = [...table.tHead.rows[0].cells];

  function systemHeader(place, note = "", held = false) {
    const [name, slug] = data.systems[place];
    const header = element("th", undefined, { scope: "row" });
    const link = element("a", undefined, { href: `systems/${slug}.html`, className: "name" });
    link.append(element("bdi", name));
    header.append(link);
    if (held) header.append(element("abbr", data.held[0], { className: "tie", title: data.held[1] }));
    if (note) header.append(mark(note));
    return header;
  }
  /* As the macros "mark" and "bar" have them */
  function mark(note) {
    const made = element("details", undefined, { className: "mark" });
    const summary = element("summary", undefined, { title: "Note" });
    summary.append(element("span", "Note", { className: "sr" }));
    made.append(summary, element("span", note, { className: "quiet remark" }));
    return made;
  }
  function spread({ low, rating, high }, [least, most]) {
    const cell = site.intervalCell(low, high);
    cell.className = "num spread";
    if (rating === null || (low === null && high === null)) return cell;
    const place = (value) => (100 * (value - least)) / (most - least || 1);
    const bar = element("span", undefined, { className: "range" });
    const line = element("i");
    const point = element("b");
    line.style.left = `${place(low ?? rating)}%`;
    line.style.right = `${100 - place(high ?? most)}%`;
    point.style.left = `${place(rating)}%`;
    bar.append(line, point);
    cell.replaceChildren(element("span", cell.textContent), bar);
    return cell;
  }
  function languageRow(row, tied, bounds) {
    const made = element("tr");
    const ranked = numberCell(row.rank, whole(row.rank), "num rank");
    if (tied.has(row.rank)) ranked.append(element("abbr", "=", { className: "tie", title: "tied" }));
    /* A system that verdicts do not rank has a place among those that they do */
    const isPlaced = row.place !== null;
    const [first, last] = isPlaced ? [row.place_low, row.place_high] : [row.rank_low, row.rank_high];
    const rankInterval = numberCell(first, `${isPlaced ? "about " : ""}${range(first, last)}`);
    rankInterval.dataset.high = last ?? "";
    rankInterval.classList.add("wide");
    const kind = row.kind === null ? "" : data.splits[row.kind];
    const cells = {
      rank: ranked,
      system: systemHeader(row.index, row.note, kind === data.splits[1]),
      arena_rank: numberCell(row.arena_rank, whole(row.arena_rank)),
      rating: numberCell(row.rating, fixed(row.rating, 2)),
      interval: spread(row, bounds),
      rank_interval: rankInterval,
      tier: numberCell(row.tier, whole(row.tier), "num wide"),
      verdict_share: numberCell(row.verdict_share, percent(row.verdict_share), "num more"),
      surrogate_rating: numberCell(row.surrogate_rating, fixed(row.surrogate_rating, 2), "num more"),
      arena_rating: numberCell(row.arena_rating, fixed(row.arena_rating, 2), "num more"),
      coverage: numberCell(row.coverage, percent(row.coverage), "num more"),
      kind: element("td", kind, { className: "set more" }),
    };
    /* In the order of the header; a column that has no cell here stays empty */
    made.append(...headers.map((header) => cells[header.dataset.column] ?? element("td")));
    return made;
  }
  /* Columns that say nothing on some boards, by name: whether a row fills them */
  const FILLS = {
    arena_rank: () => data.compared,
    interval: (row) => row.rating !== null,
    rank_interval: (row) => row.rank_low !== null || row.place_low !== null,
    tier: (row) => row.tier !== null,
    verdict_share: () => !data.first,
    surrogate_rating: (row) => row.surrogate_rating !== null,
    arena_rating: (row) => row.arena_rating !== null,
    coverage: (row) => row.coverage !== 1,
    kind: (row) => row.kind !== 0 && !data.first,
  };
  function hideAbsentColumns(rows) {
    headers.forEach((header, place) => {
      const fills = FILLS[header.dataset.column];
      if (!fills) return;
      const absent = !rows.some(fills);
      for (const row of table.rows) row.cells[place].classList.toggle("absent-column", absent);
    });
  }
  const caution = find("caution");
  const sentence = caution.querySelector("span");
  const overall = sentence.textContent;
  function showCaution(text) {
    sentence.textContent = text;
    caution.hidden = !text;
  }
  function showLanguage(code) {
    const { name, caution: limit, pairs, rows: kept } = data.languages[code];
    showCaution(limit);
    const rows = kept.map((values) => named(data.columns, values));
    const seen = new Set();
    const tied = new Set();
    for (const { rank } of rows) (seen.has(rank) && rank !== null ? tied : seen).add(rank);
    const ends = rows.flatMap((row) => [row.low, row.rating, row.high]).filter((end) => end !== null);
    const bounds = [Math.min(...ends), Math.max(...ends)];
    const byRank = [...rows].sort((a, b) => (a.rank ?? Infinity) - (b.rank ?? Infinity));
    table.tBodies[0].replaceChildren(...byRank.map((row) => languageRow(row, tied, bounds)));
    table.dataset.part = code;
    hideAbsentColumns(rows);
    for (const header of headers) header.removeAttribute("aria-sort");
    headers.find((header) => header.dataset.column === "rank").setAttribute("aria-sort", "ascending");
    site.renewed(table);
    const ranked = rows.filter((row) => row.rank !== null).length;
    find("language-caption").textContent =
      `${name}: ${ranked} of ${rows.length} systems ranked; ratings in ${data.scale}`;
    const link = find("language-pairs");
    link.href = `pairs/${pairs}.html`;
    const answers = "answers" in link.dataset ? ", and their answers side by side" : "";
    link.textContent = `Two systems head to head in ${name}${answers}`;
  }
  function showSearch() {
    const shown = select.value ? table : find("overall-table");
    if (!shown) return;
    const counted = site.filter(shown, search.value, (row) => row.querySelector(".name").textContent);
    find("shown").textContent = search.value ? `${counted} systems shown` : "";
  }
  function show() {
    const code = select.value;
    find("overall").hidden = code !== "";
    find("one-language").hidden = code === "";
    if (code) showLanguage(code);
    else showCaution(overall);
    showSearch();
  }
  function fromAddress() {
    const code = address.get("language");
    const codes = Object.keys(data.languages);
    const only = codes.length === 1 ? codes[0] : "";
    select.value = Object.hasOwn(data.languages, code) ? code : only;
    search.value = address.get("find");
    details.checked = address.get("details") !== "";
    showDetails();
    show();
  }
  select.addEventListener("change", () => {
    address.set({ language: select.value });
    show();
  });
  const details = find("details");
  function showDetails() {
    for (const box of document.querySelectorAll(".scroll.brief")) box.classList.toggle("detailed", details.checked);
  }
  details.addEventListener("change", () => {
    address.set({ details: details.checked ? "1" : "" });
    showDetails();
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
