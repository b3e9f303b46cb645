// Sets the chosen colours before the page is painted, so that nothing flashes.
"use strict";

(() => {
  try {
    const chosen = localStorage.getItem("docs-theme");
    if (chosen === "dark" || chosen === "light") {
      document.documentElement.dataset.theme = chosen;
    }
  } catch {
    // Storage can be forbidden; the system's choice of colours then holds.
  }
})();
