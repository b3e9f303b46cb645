// The reader: a quote named by the address is brought, marked and scrolled to; links are copied.
"use strict";

(() => {
  const QUOTE = /^c\d{1,12}-[0-9a-f]{8}-\d{1,9}-\d{1,9}$/;
  let brought = null;

  // The part after # is never sent, so the server cannot mark the quote by itself.
  const show = () => {
    const reader = document.querySelector("[data-reader]");
    const wanted = decodeURIComponent(location.hash.slice(1));
    if (!reader || !wanted) return;
    const target = document.getElementById(wanted);
    if (target) {
      target.scrollIntoView({ block: target.matches("mark, .marked-code") ? "center" : "start" });
      return;
    }
    const address = `/read/${reader.dataset.reader}?quote=${encodeURIComponent(wanted)}`;
    if (!QUOTE.test(wanted) || reader.dataset.quote === wanted || brought === address) return;
    brought = address;
    htmx.ajax("GET", address, { target: "#content", swap: "innerHTML" });
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy-link]");
    if (!button) return;
    citewell.copy(new URL(button.dataset.copyLink, location.href).href);
  });

  document.addEventListener("DOMContentLoaded", show);
  window.addEventListener("hashchange", show);
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target.id === "content") show();
  });
})();
