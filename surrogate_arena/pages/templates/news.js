(() => {
  "use strict";
  /* Votes that the board does not count yet, and the command that counts them */
  const news = document.getElementById("news");
  const ask = async () => {
    try {
      const answer = await fetch(`${news.dataset.root}news`);
      if (!answer.ok) return;
      const { votes, command, note } = await answer.json();
      news.hidden = votes === 0;
      news.querySelector("strong").textContent = `${votes} new vote${votes === 1 ? "" : "s"}: run board again.`;
      news.querySelector("code").textContent = command;
      news.querySelector("span").textContent = note;
    } catch { /* the server has stopped: the page stays as it is */ }
  };
  addEventListener("focus", ask);
  ask();
})();
