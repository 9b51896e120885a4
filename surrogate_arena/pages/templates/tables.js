"use strict";
/* What every page has: a state in its address, and tables that sort, filter and download */
const site = (() => {
  const find = (id) => document.getElementById(id);
  const FILTERED = 12;
  const MISSING = "–";

  /* The address: what follows # is names and values, so that a link shows what its sender saw */
  const address = {
    get: (name) => new URLSearchParams(location.hash.slice(1)).get(name) ?? "",
    set(changes) {
      const kept = new URLSearchParams(location.hash.slice(1));
      for (const [name, value] of Object.entries(changes)) {
        if (value) kept.set(name, value);
        else kept.delete(name);
      }
      const text = kept.toString().replace(/=(?=&|$)/g, "");
      try {
        history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
      } catch { /* file: addresses may refuse; the page works all the same */ }
    },
  };

  /* Sorting: missing values stay last, equal ones keep their order */
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const valueOf = (cell, kind) => {
    const text = (cell.dataset.v ?? cell.textContent).trim();
    if (kind === "text") return text;
    return text === "" || Number.isNaN(Number(text)) ? null : Number(text);
  };
  const label = (header) => (header.querySelector("button") ?? header).textContent.trim();
  const nameOf = (table) => table.id.replace(/-table$/, "");
  const orders = new Map();
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
    markTiers(body, ["Place", "Tier"].includes(label(header)));
  }
  function markTiers(body, isInOrder) {
    let former;
    for (const row of body.rows) {
      const tier = row.querySelector("[data-cell=tier]")?.dataset.v;
      row.classList.toggle("tier-start", isInOrder && former !== undefined && tier !== former);
      former = tier;
    }
  }
  function turned(header) {
    const current = header.getAttribute("aria-sort");
    if (!current) return header.dataset.first;
    return current === "ascending" ? "descending" : "ascending";
  }
  /* As the page has them: rows in their order, and the column they are sorted by */
  function note(table) {
    const header = table.tHead.querySelector("th[aria-sort]");
    const sorted = header && { header, direction: header.getAttribute("aria-sort") };
    orders.set(table, { rows: [...table.tBodies[0].rows], sorted });
  }
  function restoreSort(table) {
    const [, name, direction] = /^(.*),(ascending|descending)$/s.exec(address.get(`sort-${nameOf(table)}`)) ?? [];
    const header = [...table.tHead.querySelectorAll("th[data-sort]")].find((one) => label(one) === name);
    if (header) return sortBy(table, header, direction);
    const { rows, sorted } = orders.get(table);
    table.tBodies[0].append(...rows);
    for (const other of table.tHead.querySelectorAll("th")) other.removeAttribute("aria-sort");
    if (sorted) sortBy(table, sorted.header, sorted.direction);
  }

  /* Filtering: rows that hold the text */
  function filter(table, wanted) {
    const text = wanted.trim().toLocaleLowerCase();
    let count = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !row.textContent.toLocaleLowerCase().includes(text);
      if (!row.hidden) count += 1;
    }
    return `${count} of ${table.tBodies[0].rows.length}`;
  }

  /* Downloads: a table as CSV. What a spreadsheet would run gets an apostrophe, as in exports */
  const guarded = (text) =>
    text && (/^[\t\r\n]/.test(text) || /^\s*[=+\-@＝＋－＠']/u.test(text)) ? `'${text}` : text;
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const words = (element) => (element.innerText || element.textContent).replace(/\s+/g, " ").trim();
  function plain(cell) {
    if ("v" in cell.dataset && Number.isFinite(Number(cell.dataset.v))) return cell.dataset.v;
    const text = words(cell.querySelector(".name") ?? cell);
    if (text === MISSING) return "";
    const number = text.replaceAll(",", "").replace("−", "-");
    if (cell.classList.contains("num") && Number.isFinite(Number(number))) return number;
    return guarded(text);
  }
  function csv(table) {
    const headers = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    const rows = [...table.querySelectorAll("tbody tr:not(.band), tfoot tr")];
    const columns = headers.flatMap((header, place) => {
      if (["go", "absent-column", "drawn"].some((name) => header.classList.contains(name))) return [];
      const name = label(header);
      const cells = (read) => rows.map((row) => (row.cells[place] ? read(row.cells[place]) : ""));
      const has = (end) => rows.some((row) => row.cells[place]?.dataset[end] !== undefined);
      if (!has("high")) return [[name, cells(plain)]];
      const to = [`${name}, to`, cells((cell) => cell.dataset.high ?? "")];
      if (!has("low")) return [[`${name}, from`, cells(plain)], to];
      return [[name, cells(plain)], [`${name}, from`, cells((cell) => cell.dataset.low ?? "")], to];
    });
    if (rows.some((row) => row.querySelector(".remark")))
      columns.push(["Note", rows.map((row) => guarded(words(row.querySelector(".remark") ?? document.createElement("i"))))]);
    const lines = [columns.map(([name]) => guarded(name)), ...rows.map((_, place) => columns.map(([, cells]) => cells[place]))];
    return lines.map((line) => `${line.map(quoted).join(",")}\n`).join("");
  }
  const fileName = (...parts) =>
    `${parts.filter(Boolean).join("-").replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 100).replace(/^-+|-+$/g, "") || "table"}.csv`;
  function download(table) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" }));
    link.download = fileName(document.documentElement.dataset.arena, nameOf(table), table.dataset.part);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  /* A line of tools under every table: a search where it is long, and the download */
  function tools(table) {
    const line = document.createElement("div");
    line.className = "tools";
    if (table.tBodies[0].rows.length > FILTERED && !("unfiltered" in table.dataset)) {
      const search = Object.assign(document.createElement("input"), { type: "search", autocomplete: "off", spellcheck: false });
      const name = document.createElement("label");
      const told = document.createElement("span");
      told.setAttribute("role", "status");
      name.append("Filter rows ", search);
      line.append(name, told);
      const show = () => { told.textContent = search.value ? `${filter(table, search.value)} rows shown` : (filter(table, ""), ""); };
      search.addEventListener("input", () => { address.set({ [`find-${nameOf(table)}`]: search.value }); show(); });
      restorers.push(() => { search.value = address.get(`find-${nameOf(table)}`); show(); });
    }
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Download CSV", title: "The whole table, with all digits" });
    button.setAttribute("aria-label", `Download CSV: ${words(table.caption)}`);
    button.addEventListener("click", () => download(table));
    line.append(button);
    (table.closest(".scroll") ?? table).after(line);
  }

  const restorers = [];
  const tables = [...document.querySelectorAll("main table")];
  for (const table of tables) {
    if (table.tHead && table.tBodies.length && table.id) tools(table);
    if (!table.classList.contains("sortable")) continue;
    for (const header of table.querySelectorAll("th[data-sort]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => {
        sortBy(table, header, turned(header));
        address.set({ [`sort-${nameOf(table)}`]: `${label(header)},${header.getAttribute("aria-sort")}` });
      });
    }
    note(table);
    restorers.push(() => restoreSort(table));
  }
  /* Rows that a script has put in take the state of the address as well */
  const renewed = (table) => { note(table); restoreSort(table); };
  const restore = () => restorers.forEach((one) => one());
  addEventListener("hashchange", restore);
  restore();

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

  /* Numbers and elements, as the templates have them: what lies between two goes to the even one */
  const formats = [0, 1, 2, 3].map((digits) =>
    new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits, roundingMode: "halfEven" }));
  const fixed = (value, digits) => {
    if (value === null || value === undefined) return MISSING;
    /* All digits that a number has: the shortest text for it would round otherwise */
    const text = formats[digits].format(Math.abs(value).toFixed(50));
    return value < 0 && /[1-9]/.test(text) ? `−${text}` : text;
  };
  const whole = (value) => fixed(value, 0);
  const interval = (low, high) => {
    if (low === null) return MISSING;
    return high === null ? `[${fixed(low, 2)}, ∞)` : `[${fixed(low, 2)}, ${fixed(high, 2)}]`;
  };
  const range = (low, high) => {
    if (low === null || high === null) return MISSING;
    return low === high ? whole(low) : `${whole(low)}–${whole(high)}`;
  };
  const percent = (share, digits = 0) => {
    if (share === null) return MISSING;
    return `${fixed(share < 1 ? Math.min(100 * share, 100 - 10 ** -digits) : 100 * share, digits)}%`;
  };
  const winsDigits = (row) => (row.wins_low !== null && row.wins_high - row.wins_low < 0.03 ? 1 : 0);
  const wins = (row) => percent(row.wins, winsDigits(row));
  const winsInterval = (row) =>
    row.wins_low === null ? "" : [row.wins_low, row.wins_high].map((share) => fixed(100 * share, winsDigits(row))).join(" to ");
  function element(name, text, properties = {}) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return Object.assign(made, properties);
  }
  /* A name in its own direction */
  const bdi = (name) => element("bdi", name);
  function numberCell(value, text) {
    const cell = element("td", text, { className: "num" });
    cell.dataset.v = value ?? "";
    return cell;
  }
  const named = (columns, values) =>
    Object.fromEntries(columns.map((column, place) => [column, values[place]]));

  return {
    MISSING, address, bdi, element, find, fixed, interval, named, numberCell, percent, range, renewed, whole, wins, winsInterval,
  };
})();
