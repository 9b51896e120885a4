try {
  const kept = localStorage.getItem("surrogate-arena-theme");
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
} catch { /* storage is not available: follow the system */ }
