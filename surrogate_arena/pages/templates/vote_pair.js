/* Answers as people see them, and the keys and buttons to judge or label them with */
const votePage = (() => {
  "use strict";
  const find = (id) => document.getElementById(id);
  const words = JSON.parse(find("data").textContent).words;
  const say = (name, ...values) => words[name].replace(/{}/g, () => values.shift());
  const buttons = [...document.querySelectorAll("[data-choice]")];
  const CHOICES = buttons.map((button) => button.dataset.choice);
  const sides = [...document.querySelectorAll("[data-side]")];
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
    for (const side of sides) {
      fillMarkup(side.querySelector(".text"), pair[side.dataset.side], pair);
      side.classList.toggle("chosen", choice === side.dataset.side);
    }
    const turns = find("turns");
    turns.hidden = pair.turns.length === 0;
    turns.querySelector("summary").textContent = say("turns", pair.turns.length);
    fillList(turns.querySelector("ol"), pair.turns.map(turnText), pair);
    const passages = find("passages");
    passages.hidden = pair.passages.length === 0;
    find("given")?.toggleAttribute("hidden", passages.hidden);
    passages.querySelector("summary").textContent = say("passages", pair.passages.length);
    fillList(passages.querySelector("ol"), pair.passages.map(passageText), pair);
    for (const button of buttons)
      button.setAttribute("aria-pressed", String(button.dataset.choice === choice));
  }
  function listen({ choose, skip, back }) {
    for (const button of buttons)
      button.addEventListener("click", () => choose(button.dataset.choice));
    find("skip").addEventListener("click", skip);
    find("back").addEventListener("click", back);
    addEventListener("keydown", (event) => {
      const typing = event.target instanceof HTMLInputElement && event.target.type !== "checkbox";
      if (typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (find("voting").hidden) return;
      const key = event.key.toLowerCase();
      const button = buttons.find(({ dataset }) => dataset.key === key);
      if (button) choose(button.dataset.choice);
      else if (key === "s") skip();
      else if (event.key === "ArrowLeft") back();
      else if (event.key === "ArrowRight") skip();
      else return;
      event.preventDefault();
    });
  }
  return { find, say, CHOICES, show, listen };
})();
