// What is the same for all pages and forms that htmx brings and sends.
"use strict";

(() => {
  // A refusal of the key brings the form for another one, and a page that cannot be had one that
  // says why: both are shown like any page. Errors of a part of the page are told above it.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const content = document.getElementById("content");
    const { status } = event.detail.xhr;
    // A form whose page shows what cannot be had again stays, with what was filled in.
    if (status !== 401 && event.detail.requestConfig.elt.matches("[data-stays]")) return;
    if (status !== 401 && (status < 400 || event.detail.target !== content)) return;
    event.detail.shouldSwap = true;
    event.detail.isError = false;
    event.detail.target = content;
    event.detail.swapOverride = "innerHTML";
  });

  document.addEventListener("htmx:responseError", (event) => {
    const page = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
    const reason = page.querySelector(".error")?.textContent;
    citewell.say(reason ?? citewell.text("refused").replace("{status}", event.detail.xhr.status), true);
  });
  document.addEventListener("htmx:sendError", () => citewell.say(citewell.text("unreachable"), true));

  document.addEventListener("htmx:afterRequest", (event) => {
    if (!event.detail.successful) return;
    // A message stays until the person does something else; polls leave it where it is.
    if (event.detail.requestConfig.triggeringEvent?.isTrusted) citewell.say("");
    if (event.detail.elt.matches("form[data-reset]")) event.detail.elt.reset();
  });

  // A menu gives way to what is done elsewhere, and to Escape.
  const closeMenus = (isLeft) => {
    document.querySelectorAll(":is(.inline-menu, .key-menu)[open]").forEach((menu) => {
      if (!isLeft(menu)) return;
      if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
      menu.open = false;
    });
  };
  document.addEventListener("pointerdown", ({ target }) => closeMenus((menu) => !menu.contains(target)));

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") closeMenus(() => true);
    const sends = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (sends && event.target.matches("[data-submit-on-enter]")) event.target.form.requestSubmit();
  });

  const schemeOf = (address) => (/^(localhost|127(\.\d{1,3}){3}|\[::1\])(?=[:/?#]|$)/i.test(address) ? "http" : "https");

  // Also one that is mistyped, which the server refuses.
  const hasScheme = (address) => /^([a-z][a-z0-9+.-]{0,30}:(?!\d)|[a-z]{2,10}\/\/)/i.test(address);

  // The server would add the scheme; whoever wrote the address sees what will be fetched.
  document.addEventListener("change", (event) => {
    if (!event.target.matches("[data-urls]")) return;
    const lines = event.target.value.split("\n").map((line) => line.trim());
    event.target.value = lines.map((line) => (line && !hasScheme(line) ? `${schemeOf(line)}://${line}` : line)).join("\n");
  });

  // A page that a script brings is read from its beginning, like one that the browser opens.
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id === "content") window.scrollTo(0, 0);
  });

  // What an address says once, such as that something was saved, is not said again by a reload.
  const forgetOnce = () => {
    const said = document.querySelector("[data-once]");
    if (!said) return;
    const address = new URL(location.href);
    address.searchParams.delete(said.dataset.once);
    history.replaceState(history.state, "", address);
  };
  document.addEventListener("DOMContentLoaded", forgetOnce);
  document.addEventListener("htmx:afterSettle", forgetOnce);

  document.addEventListener("htmx:afterSettle", (event) => {
    const { target, requestConfig } = event.detail;
    // What was followed is gone, and the keyboard would begin anew at the top.
    const isFollowed = target.id === "content" && requestConfig.triggeringEvent;
    if (isFollowed && document.activeElement === document.body) target.focus({ preventScroll: true });
  });
})();
