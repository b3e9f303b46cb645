// The reader: a quote named by the address is brought, marked and scrolled to; links are copied; the
// outline marks the section that is being read.
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

  // Sections count from a little below the header and the bar on.
  const TOP_PIXELS = 150;

  // The bar repeats the title only while the heading is out of sight.
  const showTitle = () => {
    const bar = document.querySelector("[data-reader-bar]");
    if (bar) bar.dataset.readerBar = document.querySelector(".reader-head h1").getBoundingClientRect().bottom < bar.getBoundingClientRect().bottom ? "below" : "top";
  };

  const currentLink = (links) => {
    const { scrollHeight, clientHeight, scrollTop } = document.documentElement;
    const isAtEnd = scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - 2;
    const place = isAtEnd ? clientHeight : TOP_PIXELS;
    const begun = links.filter((link) => document.getElementById(link.hash.slice(1))?.getBoundingClientRect().top <= place);
    return begun.at(-1) ?? links[0];
  };

  const followSection = () => {
    const outline = document.querySelector(".outline");
    if (!outline) return;
    const links = [...outline.querySelectorAll("a[href^='#']")];
    const current = currentLink(links);
    links.forEach((link) => {
      if (link === current) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    });
    if (!current || outline.scrollHeight <= outline.clientHeight) return;
    const { top, bottom } = current.getBoundingClientRect();
    const frame = outline.getBoundingClientRect();
    if (top < frame.top || bottom > frame.bottom) outline.scrollTop += top - frame.top - frame.height / 2;
  };

  let isDue = false;
  const followSoon = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      showTitle();
      followSection();
    });
  };

  // Beside the page the outline is open; above it, on a phone, it would hide the page.
  const begin = () => {
    const outline = document.querySelector("[data-open-wide]");
    if (outline) outline.open = window.matchMedia("(min-width: 48.01rem)").matches;
    followSection();
    show();
    showTitle();
  };

  window.addEventListener("scroll", followSoon, { passive: true });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy-link]");
    if (!button) return;
    citewell.copy(new URL(button.dataset.copyLink, location.href).href);
  });

  document.addEventListener("DOMContentLoaded", begin);
  window.addEventListener("hashchange", show);
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target.id === "content") begin();
  });
})();
