/* Two systems of a language head to head, and their answers side by side */
(() => {
  const { address, bdi, element, find, fixed, interval, named, numberCell, percent, whole, wins, winsInterval } = site;
  const data = JSON.parse(find("data").textContent);
  const selects = { a: find("system-a"), b: find("system-b") };
  const languages = find("language");
  const questions = find("question");
  const names = data.systems.map(([name]) => name);
  const rows = data.ratings.map((values) => named(data.columns, values));
  const WINNERS = ["a", "tie", "b"];

  /* Numbers of two systems are kept once, of the one with the lower place */
  const count = names.length;
  const placeOf = (a, b) => (a * (2 * count - a - 1)) / 2 + b - a - 1;
  function probability(a, b) {
    const [known = null] = data.ahead[placeOf(Math.min(a, b), Math.max(a, b))] ?? [];
    return known === null || a < b ? known : 1 - known;
  }
  function met(a, b) {
    const [wins = 0, ties = 0, losses = 0] = data.met[placeOf(Math.min(a, b), Math.max(a, b))] ?? [];
    return a < b ? { wins, ties, losses } : { wins: losses, ties, losses: wins };
  }
  /* The verdicts on a question between two systems: who was shown first, who won, and why */
  function between(question, a, b) {
    return data.verdicts[question].flatMap((code, number) => {
      const pair = Math.floor(code / 3);
      const first = Math.floor(pair / count);
      const second = pair % count;
      if (!((first === a && second === b) || (first === b && second === a))) return [];
      const side = WINNERS[code % 3];
      const winner = side === "tie" ? null : side === "a" ? first : second;
      return [{ first, winner, reason: data.reasons[question]?.[number] ?? "" }];
    });
  }
  const probable = (share) =>
    share === null ? site.MISSING : share > 0.999 ? "> 99.9%" : share < 0.001 ? "< 0.1%" : `${fixed(100 * share, 1)}%`;
  const bold = (place) => element("bdi", names[place], { className: "strong" });
  /* Rows of a measure and its text for both systems */
  function fillTable(name, measures) {
    const made = measures.map(([measure, ...texts]) => {
      const row = element("tr");
      row.append(element("th", measure, { scope: "row" }), ...texts.map((text) => element("td", text, { className: "num" })));
      return row;
    });
    find(name).tBodies[0].replaceChildren(...made);
  }
  function showAhead(a, b) {
    const { wins, ties, losses } = met(a, b);
    const reasons = [a, b].map((place) => data.notes[place]);
    fillTable("ahead-table", [
      ["Ahead with a probability of", probable(probability(a, b)), probable(probability(b, a))],
      ...(wins + ties + losses ? [["Verdicts won", whole(wins), whole(losses)], ["Verdicts tied", whole(ties), whole(ties)]] : []),
      ...(reasons.some(Boolean) ? [["Note", ...reasons]] : []),
    ]);
  }
  const MEASURES = [
    ["Wins", (row) => (row.wins_low === null ? wins(row) : `${wins(row)} (${winsInterval(row)})`), "wins"],
    ["Rank", (row) => whole(row.rank), "rank"],
    ["Rank interval", (row) => site.range(row.rank_low, row.rank_high), "rank_low"],
    ["Tier", (row) => whole(row.tier), "tier"],
    ["Rating", (row) => fixed(row.rating, 2), "rating"],
    ["90% interval", (row) => interval(row.low, row.high), "low"],
    ["Own verdicts", (row) => percent(row.verdict_share), "verdict_share"],
    ["Surrogate alone", (row) => fixed(row.surrogate_rating, 2), "surrogate_rating"],
    ["Verdicts alone", (row) => fixed(row.arena_rating, 2), "arena_rating"],
    ["Coverage", (row) => percent(row.coverage), "coverage"],
  ];
  function showRatings(a, b) {
    const measured = MEASURES.filter(([, , column]) => [a, b].some((place) => rows[place][column] !== null));
    fillTable("versus-table", measured.map(([name, shown]) => [name, shown(rows[a]), shown(rows[b])]));
    for (const side of ["a", "b"]) {
      const place = side === "a" ? a : b;
      for (const header of document.querySelectorAll(`[data-name="${side}"]`)) (header.querySelector("button") ?? header).replaceChildren(bdi(names[place]));
      for (const link of document.querySelectorAll(`[data-link="${side}"]`)) {
        link.replaceChildren(bdi(names[place]));
        link.href = `../systems/${data.systems[place][1]}.html`;
      }
    }
  }
  /* About three digits, as the formats of pages have it */
  const short = (value) => {
    if (value === null) return site.MISSING;
    const size = Math.abs(value);
    if (size < 1e-9) return fixed(0, 3);
    if (size >= 1e6 || size < 5e-4) return value.toExponential(2).replace(/(?<=[+-])\d$/, "0$&").replaceAll("-", "−");
    return fixed(value, size < 1 ? 3 : size < 10 ? 2 : size < 1000 ? 1 : 0);
  };
  function showFeatures(a, b) {
    const { names: features, means, spread } = data.features;
    const measured = features.map((feature, number) => {
      const [first, second] = [means[a][number], means[b][number]];
      const known = first !== null && second !== null;
      const difference = known ? first - second : null;
      const scaled = known && spread[number] > 0 ? difference / spread[number] : null;
      return { feature, first, second, difference, scaled };
    });
    /* The feature that differs most comes first */
    const far = ({ scaled }) => (scaled === null ? -1 : Math.abs(scaled));
    measured.sort((one, other) => far(other) - far(one));
    const made = measured.map(({ feature, first, second, difference, scaled }) => {
      const row = element("tr");
      const header = element("th", undefined, { scope: "row" });
      /* A narrow column breaks a name after an underscore */
      const name = element("code", "");
      for (const part of feature.split(/(?<=_)/)) name.append(part, document.createElement("wbr"));
      header.append(name);
      row.append(
        header, numberCell(first, short(first)), numberCell(second, short(second)),
        numberCell(difference, short(difference)), numberCell(scaled, fixed(scaled, 1)),
      );
      return row;
    });
    const table = find("features-table");
    table.tBodies[0].replaceChildren(...made);
    for (const header of table.tHead.rows[0].cells) header.removeAttribute("aria-sort");
    find("features").hidden = made.length === 0;
    site.renewed(table);
  }
  const addressOf = (a, b, question) => {
    const state = new URLSearchParams(location.hash.slice(1));
    state.set("a", names[a]);
    state.set("b", names[b]);
    state.set("question", question);
    return `#${state}`;
  };
  function showResults(a, b) {
    const made = data.questions.flatMap(([id, title, shown], number) => {
      const found = between(number, a, b);
      if (found.length === 0) return [];
      const won = (place) => found.filter(({ winner }) => winner === place).length;
      const ties = found.length - won(a) - won(b);
      const share = (won(a) + ties / 2) / found.length;
      const row = element("tr");
      const header = element("th", undefined, { scope: "row" });
      const text = element("span", title, { className: "name", dir: "auto" });
      if (shown >= 0) {
        const link = element("a", undefined, { href: addressOf(a, b, id) });
        link.addEventListener("click", () => setTimeout(() => find("answers").scrollIntoView()));
        link.append(text);
        header.append(link);
      } else {
        header.append(text);
      }
      const result = element("td", undefined, { className: share === 0.5 ? "better quiet" : "better" });
      result.append(share > 0.5 ? bdi(names[a]) : share < 0.5 ? bdi(names[b]) : "even");
      row.append(header, ...[won(a), ties, won(b)].map((number) => numberCell(number, whole(number))), result);
      return [row];
    });
    const table = find("questions-table");
    table.tBodies[0].replaceChildren(...made);
    find("questions").hidden = made.length === 0;
    site.renewed(table);
  }

  /* Side by side */
  const sections = [...document.querySelectorAll(".asked")];
  function said({ first, winner, reason }, a, b) {
    const item = element("li");
    const second = first === a ? b : a;
    const shown = element("span", " · ", { className: "quiet" });
    shown.append(bdi(names[first]), " was shown first, ", bdi(names[second]), " second");
    item.append(...(winner === null ? ["A tie"] : [bold(winner), " is better"]), shown);
    if (reason) item.append(element("blockquote", reason, { dir: "auto" }));
    return item;
  }
  function showAnswers(a, b, number) {
    const [id] = data.questions[number];
    for (const section of sections) {
      const isShown = Number(section.dataset.question) === number;
      section.hidden = !isShown;
      if (!isShown) continue;
      const found = between(number, a, b);
      section.querySelector(".said").replaceChildren(...found.map((one) => said(one, a, b)));
      section.querySelector(".unsaid").hidden = found.length > 0;
      for (const answer of section.querySelectorAll(".answer")) {
        const place = Number(answer.dataset.system);
        answer.hidden = place !== a && place !== b;
        answer.classList.toggle("second", place === b);
        const won = found.filter(({ winner }) => winner === place).length;
        const lost = found.filter(({ winner }) => winner !== null && winner !== place).length;
        answer.classList.toggle("won", won > lost);
      }
      const answered = new Set([...section.querySelectorAll(".answer:not([hidden])")].map((one) => Number(one.dataset.system)));
      const silent = [a, b].filter((place) => !answered.has(place));
      const note = section.querySelector(".silent");
      note.hidden = silent.length === 0;
      note.replaceChildren(...silent.flatMap((place) => [bdi(names[place]), " has no answer to this question. "]));
      for (const passage of section.querySelectorAll("[data-given]")) {
        const given = passage.dataset.given.split(" ").map(Number);
        const here = [a, b].filter((place) => given.includes(place));
        passage.hidden = here.length === 0;
        passage.querySelector(".given").replaceChildren(...(here.length === 1 ? ["given to ", bdi(names[here[0]])] : []));
      }
    }
    questions.value = id;
  }
  const shownQuestions = data.questions.map(([id, , shown], number) => ({ id, number, shown })).filter(({ shown }) => shown >= 0);
  function chosenQuestion(a, b) {
    const asked = shownQuestions.find(({ id }) => id === address.get("question"));
    return asked ?? shownQuestions.find(({ number }) => between(number, a, b).length) ?? shownQuestions[0];
  }

  let former;
  function show() {
    const [a, b] = ["a", "b"].map((side) => Number(selects[side].value));
    for (const side of ["a", "b"])
      for (const option of selects[side].options) option.disabled = option.value === selects[side === "a" ? "b" : "a"].value;
    showAhead(a, b);
    const question = chosenQuestion(a, b);
    if (former !== `${a} ${b}`) {
      showRatings(a, b);
      showFeatures(a, b);
      showResults(a, b);
    }
    former = `${a} ${b}`;
    if (question) showAnswers(a, b, question.number);
  }
  function fromAddress() {
    const wanted = ["a", "b"].map((side) => names.indexOf(address.get(side)));
    const rest = names.map((_, place) => place).filter((place) => !wanted.includes(place));
    const [a, b] = wanted.map((place) => (place >= 0 ? place : rest.shift()));
    selects.a.value = String(a);
    selects.b.value = String(a === b ? rest.shift() : b);
    show();
  }
  const chosen = () => ({ a: names[selects.a.value], b: names[selects.b.value] });
  for (const side of ["a", "b"]) {
    selects[side].append(...names.map((name, place) => element("option", name, { value: String(place), dir: "auto" })));
    selects[side].addEventListener("change", () => {
      address.set(chosen());
      show();
    });
  }
  find("swap").addEventListener("click", () => {
    [selects.a.value, selects.b.value] = [selects.b.value, selects.a.value];
    address.set(chosen());
    show();
  });
  for (const [code, [name]] of Object.entries(data.languages))
    languages.append(element("option", name === code ? name : `${name} (${code})`, { value: code, selected: code === data.language }));
  languages.addEventListener("change", () => {
    const [, slug] = data.languages[languages.value];
    location.href = `${slug}.html#${new URLSearchParams(chosen())}`;
  });
  if (questions) {
    questions.append(...shownQuestions.map(({ id, number }) => element("option", data.questions[number][1], { value: id })));
    const ask = (id) => {
      address.set({ ...chosen(), question: id });
      show();
    };
    questions.addEventListener("change", () => ask(questions.value));
    for (const [name, step] of [["former", -1], ["next", 1]])
      find(name).addEventListener("click", () => {
        const place = shownQuestions.findIndex(({ id }) => id === questions.value);
        ask(shownQuestions[(place + step + shownQuestions.length) % shownQuestions.length].id);
      });
    find("asking").hidden = false;
  }
  /* A citation opens its passage, and the address stays */
  document.addEventListener("click", (event) => {
    const cited = event.target.closest("a.cite");
    if (!cited) return;
    event.preventDefault();
    const passage = find(cited.getAttribute("href").slice(1));
    passage.closest("details").open = true;
    for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
    passage.classList.add("lit");
    passage.focus({ preventScroll: true });
    passage.scrollIntoView({ block: "center" });
  });
  for (const link of document.querySelectorAll(".go a"))
    link.addEventListener("click", () => setTimeout(() => find("controls").scrollIntoView()));
  addEventListener("hashchange", fromAddress);
  if (count > 1) {
    find("controls").addEventListener("submit", (event) => event.preventDefault());
    find("controls").hidden = false;
    for (const part of ["versus", "measured"]) find(part).hidden = false;
    find("answers").classList.add("two");
    fromAddress();
  }
})();
