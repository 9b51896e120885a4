/* A pair of answers as a voter sees it, and the keys and buttons to judge it with */
const votePage = (() => {
  "use strict";
  const find = (id) => document.getElementById(id);
  const words = JSON.parse(find("data").textContent).words;
  const say = (name, ...values) => words[name].replace(/{}/g, () => values.shift());
  const CHOICES = ["a", "tie", "b"];
  const side = (name) => find(`side-${name}`).querySelector(".text");
  const fill = (element, text, pair) => {
    element.textContent = text;
    element.lang = pair.language;
    element.dir = pair.direction;
  };
  /* HTML of an answer's Markdown, in which all HTML of the answer itself is escaped */
  const fillMarkup = (element, html, pair) => {
    fill(element, "", pair);
    element.innerHTML = html;
  };
  const fillList = (list, texts, pair) => list.replaceChildren(...texts.map((text) => {
    const item = document.createElement("li");
    fill(item, text, pair);
    return item;
  }));
  const turnText = (turn) => {
    const whose = turn.given_to ? ` (${say("before", turn.given_to)})` : "";
    return `${turn.role}${whose}: ${turn.text}`;
  };
  const passageText = (passage) => {
    const title = passage.title ? `${passage.title}: ` : "";
    const given = passage.given_to ? `(${say("given_to", passage.given_to)}) ` : "";
    return `[${passage.id}] ${given}${title}${passage.text}`;
  };
  function show(pair, choice) {
    fill(find("question"), pair.question, pair);
    fillMarkup(side("a"), pair.a, pair);
    fillMarkup(side("b"), pair.b, pair);
    const turns = find("turns");
    turns.hidden = pair.turns.length === 0;
    turns.querySelector("summary").textContent = say("turns", pair.turns.length);
    fillList(turns.querySelector("ol"), pair.turns.map(turnText), pair);
    const passages = find("passages");
    passages.hidden = pair.passages.length === 0;
    find("given").hidden = passages.hidden;
    passages.querySelector("summary").textContent = say("passages", pair.passages.length);
    fillList(passages.querySelector("ol"), pair.passages.map(passageText), pair);
    for (const button of document.querySelectorAll("[data-choice]"))
      button.setAttribute("aria-pressed", String(button.dataset.choice === choice));
    for (const name of ["a", "b"]) find(`side-${name}`).classList.toggle("chosen", choice === name);
  }
  function listen({ choose, skip, back }) {
    for (const button of document.querySelectorAll("[data-choice]"))
      button.addEventListener("click", () => choose(button.dataset.choice));
    find("skip").addEventListener("click", skip);
    find("back").addEventListener("click", back);
    addEventListener("keydown", (event) => {
      const typing = event.target instanceof HTMLInputElement && event.target.type !== "checkbox";
      if (typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const number = Number(event.key);
      if (find("voting").hidden) return;
      if (number >= 1 && number <= 3) choose(CHOICES[number - 1]);
      else if (event.key === "s" || event.key === "S") skip();
      else if (event.key === "ArrowLeft") back();
      else if (event.key === "ArrowRight") skip();
      else return;
      event.preventDefault();
    });
  }
  return { find, say, CHOICES, show, listen };
})();
