(() => {
  "use strict";
  const page = votePage;
  const { find, say, CHOICES } = page;
  const data = JSON.parse(find("data").textContent);

  /* What was chosen: pair to choice, kept under the ballot's digest */
  const STORE = `surrogate-arena-votes-${data.ballot}`;
  const known = new Set(data.pairs.map((pair) => pair.id));
  const votes = new Map();
  let remembers = true;
  try {
    const kept = JSON.parse(localStorage.getItem(STORE) ?? "{}");
    for (const [id, choice] of Object.entries(kept.votes ?? {}))
      if (known.has(id) && CHOICES.includes(choice)) votes.set(id, choice);
    find("voter").value = typeof kept.voter === "string" ? kept.voter : "";
  } catch { remembers = false; }
  const keep = () => {
    try {
      const kept = { voter: find("voter").value, votes: Object.fromEntries(votes) };
      localStorage.setItem(STORE, JSON.stringify(kept));
    } catch { remembers = false; }
  };

  const firstOpen = () => data.pairs.findIndex((pair) => !votes.has(pair.id));
  let place = Math.max(firstOpen(), 0);

  function show() {
    const pair = data.pairs[place];
    page.show(pair, votes.get(pair.id));
    find("place").textContent = say("pair_of", place + 1, data.pairs.length);
    find("kept").textContent = say(remembers ? "kept" : "not_kept");
    const progress = find("progress");
    progress.max = data.pairs.length;
    progress.value = votes.size;
    find("back").disabled = place === 0;
    const open = data.pairs.length - votes.size;
    find("counted").textContent = open
      ? say("some_open", votes.size, data.pairs.length, open)
      : say("none_open", data.pairs.length);
  }
  function go(to) {
    place = Math.min(Math.max(to, 0), data.pairs.length - 1);
    show();
    scrollTo({ top: 0 });
  }
  function choose(choice) {
    votes.set(data.pairs[place].id, choice);
    keep();
    if (place === data.pairs.length - 1 || votes.size === data.pairs.length) {
      show();
      if (votes.size === data.pairs.length) find("export").scrollIntoView({ block: "center" });
      return;
    }
    go(place + 1);
  }
  const skip = () => go(place + 1);
  const back = () => go(place - 1);

  page.listen({ choose, skip, back });

  /* Export */
  const voter = () => find("voter").value.trim().replace(/\s+/g, " ");
  find("voter").addEventListener("input", keep);
  find("json").addEventListener("click", () => {
    find("needs").hidden = voter() !== "";
    if (voter() === "") {
      find("voter").focus();
      return;
    }
    const chosen = data.pairs
      .filter((pair) => votes.has(pair.id))
      .map((pair) => ({ id: pair.id, choice: votes.get(pair.id) }));
    const content = { format: data.format, ballot: data.ballot, voter: voter(), votes: chosen };
    const text = `${JSON.stringify(content, null, 1)}\n`;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    const safe = voter().replace(/[^\p{L}\p{N}-]+/gu, "-");
    link.download = `votes-${safe}-${data.ballot.slice(0, 6)}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });

  find("voting").hidden = false;
  find("export").hidden = false;
  show();
})();
