// What must be known before the page is painted: the chosen colours, and whether there is a key.
"use strict";

(() => {
  const root = document.documentElement;
  root.dataset.script = "";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  try {
    const chosen = localStorage.getItem("citewell.theme");
    if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
    if (localStorage.getItem("citewell.key")) root.dataset.hasKey = "";
  } catch {
    // Storage can be forbidden; the system's choice of colours then holds.
  }

  const isDark = () => (root.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("[data-theme-switch]");
    const show = () => button.setAttribute("aria-pressed", String(isDark()));
    show();
    dark.addEventListener("change", show);
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      show();
      try {
        localStorage.setItem("citewell.theme", root.dataset.theme);
      } catch {
        // The choice then holds for this page only.
      }
    });
  });
})();
