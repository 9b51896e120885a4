/* The board: overall or in one language, filtered, compared, copied */
(() => {
  const { address, bdi, element, find, fixed, interval, named, percent, range, whole, wins, winsInterval } = site;
  const data = JSON.parse(find("data").textContent);
  const table = find("board-table");
  const select = find("language");
  const search = find("search");
  const details = find("details");
  const rows = new Map([...table.querySelectorAll("tr[data-index]")].map((row) => [Number(row.dataset.index), row]));
  /* What a search for a system reads: its name, organization, license and date */
  const described = new Map(
    [...rows.values()].map((row) => {
      const name = row.querySelector(".name").textContent;
      return [name, `${name} ${row.querySelector(".about")?.textContent ?? ""}`.toLocaleLowerCase()];
    }),
  );
  let group = "";

  /* As the filters "place" and "group_of" have them */
  const groupOf = (row) => (row.rank !== null ? "judged" : row.place_low !== null ? "predicted" : "absent");
  const place = (row) => {
    if (row.rank === null) return row.place_low === null ? site.MISSING : `about ${range(row.place_low, row.place_high)}`;
    return row.rank_low === null ? whole(row.rank) : range(row.rank_low, row.rank_high);
  };
  const TEXTS = {
    place,
    note: (row) => row.note,
    arena_rank: (row) => whole(row.arena_rank),
    rating: (row) => fixed(row.rating, 2),
    interval: (row) => interval(row.low, row.high),
    tier: (row) => whole(row.tier),
    verdict_share: (row) => percent(row.verdict_share),
    surrogate_rating: (row) => fixed(row.surrogate_rating, 2),
    arena_rating: (row) => fixed(row.arena_rating, 2),
    coverage: (row) => percent(row.coverage),
  };
  function fill(made, row) {
    for (const cell of made.querySelectorAll("[data-cell]")) {
      const name = cell.dataset.cell;
      if (name === "wins") {
        cell.querySelector("b").textContent = wins(row);
        cell.querySelector("small").textContent = winsInterval(row);
      } else (cell.querySelector("span") ?? cell).textContent = TEXTS[name](row);
      const values = { place: row.rank ?? row.place_low, interval: row.low };
      if ("v" in cell.dataset) cell.dataset.v = values[name] ?? row[name] ?? "";
      const [low, high] = name === "wins" ? [row.wins_low, row.wins_high] : [row.low, row.high];
      if ("low" in cell.dataset) cell.dataset.low = low ?? "";
      if ("high" in cell.dataset) cell.dataset.high = high ?? "";
      if (name === "note") cell.hidden = !row.note;
    }
    const drawn = { low: row.wins_low ?? row.wins, mid: row.wins, high: row.wins_high ?? row.wins, from: row.tier_low, to: row.tier_high };
    for (const [name, value] of Object.entries(drawn)) made.style.setProperty(`--${name}`, value ?? 0);
    made.classList.toggle("unknown", row.wins === null);
  }
  function told(parts) {
    const span = element("span");
    parts.forEach((part, place) => {
      if (place % 2 === 0) return span.append(part);
      const name = element("b");
      name.append(bdi(part));
      span.append(name);
    });
    span.append(" ");
    return span;
  }
  function hideAbsentColumns() {
    table.querySelectorAll("thead th.more").forEach((header) => {
      const cells = [...rows.values()].map((row) => row.cells[header.cellIndex]);
      const values = new Set(cells.map((cell) => cell.dataset.v));
      const absent = values.size === 1 && (values.has("") || (values.has("1") && cells[0].dataset.cell === "coverage"));
      for (const cell of [header, ...cells]) cell.classList.toggle("absent-column", absent);
    });
  }
  function showView(code) {
    const view = data.views[code];
    find("sentence").replaceChildren(...view.sentences.map(told));
    find("facts").replaceChildren(...view.facts.map(told));
    const caution = find("caution");
    caution.querySelector("span").textContent = view.caution;
    caution.hidden = !view.caution;
    const shown = new Set();
    for (const values of view.rows) {
      const row = named(data.columns, values);
      const made = rows.get(row.index);
      fill(made, row);
      find(groupOf(row)).append(made);
      shown.add(row.index);
    }
    for (const [index, made] of rows) made.classList.toggle("elsewhere", !shown.has(index));
    table.dataset.part = code;
    hideAbsentColumns();
    for (const header of table.tHead.rows[0].cells) header.removeAttribute("aria-sort");
    table.tHead.rows[0].cells[0].setAttribute("aria-sort", "ascending");
    site.renewed(table);
    const link = find("language-pairs");
    link.setAttribute("href", code ? `pairs/${view.pairs}.html` : link.dataset.first);
    const answers = "answers" in link.dataset ? ", and their answers side by side" : "";
    link.textContent = `Two systems head to head${code ? ` in ${view.name}` : ""}${answers}`;
    filterRows();
    compare();
  }
  function filterRows() {
    const wanted = search.value.trim().toLocaleLowerCase();
    const matches = (row) => described.get(row.querySelector(".name").textContent).includes(wanted);
    let count = 0;
    for (const row of rows.values()) {
      const body = row.parentNode.id;
      row.hidden = row.classList.contains("elsewhere") || !matches(row) || (group !== "" && body !== group);
      if (!row.hidden) count += 1;
    }
    for (const body of table.tBodies) {
      const band = body.querySelector(".band");
      if (band) band.hidden = ![...body.rows].some((row) => row !== band && !row.hidden);
    }
    for (const row of find("ranks-table")?.tBodies[0].rows ?? []) row.hidden = !matches(row);
    const is_part = wanted || group;
    find("shown").textContent = is_part ? (count ? `${count} of ${rows.size} systems shown` : "No system matches.") : "";
  }
  /* Two ticked rows lead to their head to head */
  const picks = [...table.querySelectorAll(".pick input")];
  function compare() {
    const chosen = picks.filter((pick) => pick.checked).map((pick) => data.systems[pick.closest("tr").dataset.index][0]);
    for (const pick of picks) pick.disabled = chosen.length === 2 && !pick.checked;
    const line = find("compare");
    line.hidden = chosen.length !== 2;
    if (chosen.length !== 2) return;
    const link = line.querySelector("a");
    link.replaceChildren("Compare ", bdi(chosen[0]), " with ", bdi(chosen[1]));
    link.href = `${find("language-pairs").getAttribute("href")}#${new URLSearchParams({ a: chosen[0], b: chosen[1] })}`;
  }
  for (const pick of picks) {
    pick.hidden = false;
    pick.addEventListener("change", compare);
  }
  const buttons = [...document.querySelectorAll("[data-group]")];
  for (const button of buttons)
    button.addEventListener("click", () => { address.set({ show: button.dataset.group }); fromAddress(); });
  find("markdown").addEventListener("click", async () => {
    const clean = (text) => text.replace(/\s+/g, " ").trim().replace(/([\\|`*_<[\]])/g, "\\$1");
    const lines = ["| Place | System | Wins | 90% interval |", "| --- | --- | --- | --- |"];
    for (const row of table.querySelectorAll("tr[data-index]:not([hidden])")) {
      const [share, bounds] = row.querySelector(".wins").children;
      const cells = [row.cells[0], row.querySelector(".name"), share, bounds];
      lines.push(`| ${cells.map((cell) => clean(cell.textContent)).join(" | ")} |`);
    }
    const button = find("markdown");
    try {
      await navigator.clipboard.writeText(`${clean(find("sentence").textContent)}\n\n${lines.join("\n")}\n`);
      button.textContent = "Copied";
    } catch {
      button.textContent = "The browser lets nothing be copied";
    }
  });
  function fromAddress() {
    const code = address.get("language");
    select.value = Object.hasOwn(data.views, code) ? code : "";
    search.value = address.get("find");
    group = buttons.some((button) => button.dataset.group === address.get("show")) ? address.get("show") : "";
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.group === group));
    details.checked = address.get("details") !== "";
    find("board-box").classList.toggle("detailed", details.checked);
    showView(select.value);
  }
  select.addEventListener("change", () => { address.set({ language: select.value }); fromAddress(); });
  details.addEventListener("change", () => { address.set({ details: details.checked ? "1" : "" }); fromAddress(); });
  search.addEventListener("input", () => { address.set({ find: search.value }); filterRows(); });
  find("controls").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", fromAddress);
  find("language-pairs").dataset.first = find("language-pairs").getAttribute("href");
  find("controls").hidden = false;
  fromAddress();
})();
