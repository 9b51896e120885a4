(() => {
  "use strict";
  /* Votes that the board does not count yet, and the command that counts them */
  const news = document.getElementById("news");
  const ask = async () => {
    try {
      const answer = await fetch(`${news.dataset.root}news`);
      if (!answer.ok) return;
      const { remarks: [votes, settings], command } = await answer.json();
      news.hidden = !votes;
      news.querySelector("strong").textContent = votes?.sentence;
      news.querySelector("code").textContent = command;
      news.querySelector("span").textContent = settings?.sentence;
    } catch { /* the server has stopped: the page stays as it is */ }
  };
  addEventListener("focus", ask);
  ask();
})();
