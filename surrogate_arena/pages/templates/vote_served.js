(() => {
  "use strict";
  const page = votePage;
  const { find, say } = page;
  const STORE = `surrogate-arena-voter-${JSON.parse(find("data").textContent).arena}`;
  const boxes = [...document.querySelectorAll("[name=language]")];
  const voter = () => find("voter").value.trim().replace(/\s+/g, " ");
  const languages = () => boxes.filter((box) => box.checked).map((box) => box.value);

  try {
    const kept = JSON.parse(localStorage.getItem(STORE) ?? "{}");
    if (typeof kept.voter === "string") find("voter").value = kept.voter;
    if (Array.isArray(kept.languages) && kept.languages.length)
      for (const box of boxes) box.checked = kept.languages.includes(box.value);
  } catch { /* not remembered: the name is asked for again */ }

  /* Pairs of this visit in the order shown, with their choices: the way back */
  const shown = [];
  let place = -1;
  let judged = 0;
  let isBusy = false;

  const complain = (text) => {
    find("trouble").textContent = text;
    find("trouble").hidden = text === "";
  };
  async function send(path, content) {
    let answer;
    try {
      answer = await fetch(path, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ voter: voter(), ...content }),
      });
    } catch {
      throw new Error(say("no_answer"));
    }
    const content_of = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(content_of.error ?? say("refused", answer.status));
    return content_of;
  }
  /* One request at a time: a key that is held down judges no pair unseen */
  async function alone(task) {
    if (isBusy) return;
    isBusy = true;
    try {
      await task();
      complain("");
    } catch (error) {
      complain(error.message);
    } finally {
      isBusy = false;
    }
  }
  function show() {
    const entry = shown[place];
    page.show(entry.pair, entry.choice);
    find("place").textContent = say("count", voter(), judged);
    find("kept").textContent = entry.choice ? say("saved") : "";
    find("back").disabled = place === 0;
    find("voting").hidden = false;
    scrollTo({ top: 0 });
  }
  async function next(skipped) {
    if (place + 1 < shown.length) {
      place += 1;
      show();
      return;
    }
    const answer = await send("pair", { languages: languages(), skipped });
    judged = answer.judged;
    find("start").hidden = true;
    if (answer.pair === null) {
      find("voting").hidden = true;
      find("done").hidden = false;
      find("done").textContent = say("no_pair", judged);
      return;
    }
    shown.push({ pair: answer.pair, choice: null });
    place = shown.length - 1;
    show();
  }
  const choose = (choice) => alone(async () => {
    const entry = shown[place];
    const answer = await send("vote", { id: entry.pair.id, choice });
    entry.choice = choice;
    judged = answer.judged;
    await next(null);
  });
  const skip = () => alone(() => next(shown[place].choice ? null : shown[place].pair.id));
  const back = () => {
    if (isBusy || place < 1) return;
    place -= 1;
    show();
  };
  page.listen({ choose, skip, back });

  find("start").addEventListener("submit", (event) => {
    event.preventDefault();
    if (voter() === "") return;
    if (boxes.length && !languages().length) {
      complain(say("choose_language"));
      return;
    }
    try {
      localStorage.setItem(STORE, JSON.stringify({ voter: voter(), languages: languages() }));
    } catch { /* not remembered */ }
    alone(() => next(null));
  });
  find("start").hidden = false;
})();
