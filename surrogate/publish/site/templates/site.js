(() => {
  "use strict";
  const MISSING = "–";
  const MARGIN = 4;
  const SVG = "http://www.w3.org/2000/svg";
  const find = (id) => document.getElementById(id);

  /* Sorting: missing values stay last, equal ones keep their order */
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const valueOf = (cell, kind) => {
    const text = (cell.dataset.v ?? cell.textContent).trim();
    if (kind === "text") return text;
    return text === "" || Number.isNaN(Number(text)) ? null : Number(text);
  };
  function sortBy(table, header, direction) {
    const kind = header.dataset.sort;
    const sign = direction === "descending" ? -1 : 1;
    const body = table.tBodies[0];
    const keyed = Array.from(body.rows, (row) => [valueOf(row.cells[header.cellIndex], kind), row]);
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (kind === "text" ? collator.compare(a, b) : a - b);
    });
    body.append(...keyed.map(([, row]) => row));
    for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", direction);
    markTiers(body, header);
  }
  function markTiers(body, header) {
    const byTier = header.textContent.trim() === "Tier";
    let former;
    for (const row of body.rows) {
      const tier = row.cells[header.cellIndex].dataset.v;
      row.classList.toggle("tier-start", byTier && former !== undefined && tier !== former);
      former = tier;
    }
  }
  function turned(header) {
    const current = header.getAttribute("aria-sort");
    if (!current) return header.dataset.first;
    return current === "ascending" ? "descending" : "ascending";
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const header of table.querySelectorAll("th[data-sort]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => sortBy(table, header, turned(header)));
    }
  }

  /* The command */
  const copy = find("copy");
  if (copy && navigator.clipboard) {
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(find("command").textContent);
        copy.textContent = "Copied";
      } catch {
        copy.textContent = "Select and copy it by hand";
      }
    });
  }

  /* The board: one language, or a search */
  const stored = find("data");
  if (!stored) return;
  const data = JSON.parse(stored.textContent);
  const select = find("language");
  const search = find("search");
  const table = find("language-table");
  const SPLITS = { train: "trained on", holdout: "held out", unjudged: "not judged" };

  const fixed = (value, digits) => {
    if (value === null) return MISSING;
    const text = Math.abs(value).toFixed(digits);
    return value < 0 && Number(text) !== 0 ? "−" + text : text;
  };
  const interval = (low, high) => {
    if (low === null) return MISSING;
    return high === null ? `[${fixed(low, 2)}, ∞)` : `[${fixed(low, 2)}, ${fixed(high, 2)}]`;
  };
  const range = (low, high) => {
    if (low === null || high === null) return MISSING;
    return low === high ? String(low) : `${low}–${high}`;
  };
  const percent = (share) => {
    if (share === null) return MISSING;
    return `${share < 1 ? Math.min(Math.round(100 * share), 99) : 100}%`;
  };
  function element(name, text, properties = {}) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return Object.assign(made, properties);
  }
  function numberCell(value, text, className = "num") {
    const cell = element("td", text, { className });
    cell.dataset.v = value ?? "";
    return cell;
  }
  function shape(name, className, attributes) {
    const made = document.createElementNS(SVG, name);
    made.setAttribute("class", className);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }
  /* A rating without an upper bound has a line to the right end */
  function marks(svg, className, y, r, at, [point, low, high]) {
    if (low !== null) {
      const x2 = high === null ? "100%" : at(high);
      svg.append(shape("line", className, { x1: at(low), x2, y1: y, y2: y }));
    }
    if (point !== null) svg.append(shape("circle", className, { cx: at(point), cy: y, r }));
  }
  const ratingsOf = (row) => ({
    both: [row.rating, row.low, row.high],
    surrogate: [row.surrogate_rating, row.surrogate_low, row.surrogate_high],
    verdicts: [row.arena_rating, row.arena_low, row.arena_high],
  });
  function scaleOver(rows) {
    const values = rows.flatMap((row) => Object.values(ratingsOf(row)).flat());
    const known = values.filter((value) => value !== null);
    const low = Math.min(...known);
    const span = Math.max(...known) - low;
    return (value) => {
      const share = span > 0 ? (value - low) / span : 0.5;
      return `${(MARGIN + (100 - 2 * MARGIN) * share).toFixed(1)}%`;
    };
  }
  function systemHeader(place, note = "") {
    const [name, slug] = data.systems[place];
    const header = element("th", undefined, { scope: "row" });
    const link = element("a", undefined, { href: `systems/${slug}.html`, className: "name" });
    link.append(element("bdi", name));
    header.append(link);
    if (note) header.append(element("span", note, { className: "quiet remark" }));
    return header;
  }
  function languageRow(row, at, tied) {
    const made = element("tr");
    const svg = shape("svg", "interval three", { "aria-hidden": "true", focusable: "false" });
    svg.append(shape("line", "zero", { x1: at(0), x2: at(0), y1: 0, y2: 36 }));
    const { both, surrogate, verdicts } = ratingsOf(row);
    marks(svg, "both", 7, 4.5, at, both);
    marks(svg, "surrogate", 18, 3.5, at, surrogate);
    marks(svg, "verdicts", 29, 3.5, at, verdicts);
    const drawn = element("td", undefined, { className: "wide" });
    drawn.append(svg);
    const whole = (value) => (value === null ? MISSING : String(value));
    const ranked = numberCell(row.rank, whole(row.rank), "num rank");
    if (tied.has(row.rank)) ranked.append(element("abbr", "=", { className: "tie", title: "tied" }));
    const kind = row.kind === null ? "" : data.splits[row.kind];
    made.append(
      ranked,
      systemHeader(row.index, row.note),
      numberCell(row.rank_low, range(row.rank_low, row.rank_high)),
      numberCell(row.tier, whole(row.tier)),
      numberCell(row.rating, fixed(row.rating, 2)),
      drawn,
      numberCell(row.low, interval(row.low, row.high)),
      numberCell(row.verdict_share, percent(row.verdict_share)),
      numberCell(row.surrogate_rating, fixed(row.surrogate_rating, 2)),
      numberCell(row.worth, fixed(row.worth, 0)),
      numberCell(row.arena_rating, fixed(row.arena_rating, 2)),
      numberCell(row.coverage, percent(row.coverage)),
      element("td", SPLITS[kind] ?? kind, { className: "set" }),
    );
    return made;
  }
  /* Columns that say nothing on some boards: place in the table, and whether a row fills it */
  const OPTIONAL = [
    [2, (row) => row.rank_low !== null],
    [3, (row) => row.tier !== null],
    [6, (row) => row.low !== null],
    [8, (row) => row.surrogate_rating !== null],
    [9, (row) => row.worth !== null],
    [10, (row) => row.arena_rating !== null],
    [11, (row) => row.coverage !== 1],
    [12, (row) => row.kind !== 0],
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
    const { name, told, rows: kept } = data.languages[code];
    showTold(told.map(([sentence, warns]) => [`${name}: ${sentence}`, warns]));
    const rows = kept.map((values) =>
      Object.fromEntries(data.columns.map((column, place) => [column, values[place]])),
    );
    const at = scaleOver(rows);
    const seen = new Set();
    const tied = new Set();
    for (const { rank } of rows) (seen.has(rank) && rank !== null ? tied : seen).add(rank);
    const made = rows.map((row) => languageRow(row, at, tied));
    table.tBodies[0].replaceChildren(...made);
    hideAbsentColumns(rows);
    const rank = table.tHead.rows[0].cells[0];
    sortBy(table, rank, "ascending");
    const ranked = rows.filter((row) => row.rank !== null).length;
    find("language-caption").textContent =
      `${name}: ${ranked} of ${rows.length} systems ranked; ratings in ${data.scale}`;
  }
  function showSearch() {
    const wanted = search.value.trim().toLocaleLowerCase();
    const shown = select.value ? table : find("overall-table");
    if (!shown) return;
    let count = 0;
    for (const row of shown.tBodies[0].rows) {
      const name = row.cells[1].textContent.toLocaleLowerCase();
      row.hidden = !name.includes(wanted);
      if (!row.hidden) count += 1;
    }
    const all = shown.tBodies[0].rows.length;
    find("shown").textContent = `${count} of ${all} systems shown`;
  }
  function show() {
    const code = select.value;
    find("overall").hidden = code !== "";
    find("one-language").hidden = code === "";
    if (code) showLanguage(code);
    showSearch();
  }
  function fromAddress() {
    const code = new URLSearchParams(location.hash.slice(1)).get("language") ?? "";
    const codes = Object.keys(data.languages);
    const only = codes.length === 1 ? codes[0] : "";
    select.value = Object.hasOwn(data.languages, code) ? code : only;
    show();
  }
  select.addEventListener("change", () => {
    const address = select.value ? `#language=${encodeURIComponent(select.value)}` : location.pathname;
    try {
      history.replaceState(null, "", address);
    } catch { /* file: addresses may refuse; the page works all the same */ }
    show();
  });
  search.addEventListener("input", showSearch);
  find("controls").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", fromAddress);
  find("controls").hidden = false;
  fromAddress();
})();
