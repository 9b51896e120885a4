try {
  const kept = localStorage.getItem("surrogate-arena-theme");
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
} catch { /* storage is not available: follow the system */ }
addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);
  const button = document.getElementById("theme");
  /* The button says what it brings */
  const show = () => {
    button.textContent = isDark() ? button.dataset.light ?? "Light" : button.dataset.dark ?? "Dark";
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("surrogate-arena-theme", root.dataset.theme);
    } catch { /* not remembered */ }
    show();
  });
  prefersDark.addEventListener("change", show);
  button.hidden = false;
  show();
});
