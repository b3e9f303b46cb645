// Keeps the API key in this browser and sends it in a header: never in an address, never in a cookie.
"use strict";

const citewell = (() => {
  const PLACE = "citewell.key";
  let key = "";
  try {
    key = localStorage.getItem(PLACE) ?? "";
  } catch {
    // Storage can be forbidden; the key then holds for this page only.
  }

  const remember = (value) => {
    key = value.replace(/^bearer\s+/i, "").trim();
    try {
      if (key) localStorage.setItem(PLACE, key);
      else localStorage.removeItem(PLACE);
    } catch {
      // As above.
    }
  };

  const headers = () => (key ? { Authorization: `Bearer ${key}` } : {});

  const say = (text, isError = false) => {
    const line = document.getElementById("message");
    line.textContent = text;
    line.hidden = !text;
    line.classList.toggle("error", isError);
  };

  // What was said is in the way of what comes next, unless it waits for an answer or is an error.
  const dismiss = (event) => {
    const line = document.getElementById("message");
    const stays = line.matches(".error, :has(button)") || line.contains(event.target);
    if (!line.hidden && !stays) say("");
  };
  document.addEventListener("pointerdown", dismiss);
  document.addEventListener("keydown", dismiss);

  // A message with a button that takes back what it says.
  const offerUndo = (words, undo) => {
    say(words);
    const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: text("undo") });
    button.addEventListener("click", undo, { once: true });
    document.getElementById("message").append(" ", button);
    return button;
  };

  const text = (name) => JSON.parse(document.body.dataset.texts)[name];

  // What an answer says went wrong, as a page or as JSON.
  const reasonOf = async (answer) => {
    const body = await answer.text();
    if (answer.status === 413) return text("too_large");
    if (answer.headers.get("content-type")?.startsWith("application/json")) {
      const { error, suggestion } = JSON.parse(body);
      return [error, suggestion].filter(Boolean).join(" ");
    }
    const page = new DOMParser().parseFromString(body, "text/html");
    return page.querySelector(".error")?.textContent ?? text("refused").replace("{status}", answer.status);
  };

  const copy = (words) =>
    navigator.clipboard.writeText(words).then(
      () => say(text("copied")),
      () => say(text("not_copied"), true),
    );

  const showHint = () => {
    document.querySelectorAll("[data-key-hint]").forEach((place) => {
      place.textContent = key ? ` …${key.length > 8 ? key.slice(-4) : ""}` : "";
    });
    document.querySelectorAll("[data-key-clear]").forEach((button) => {
      button.hidden = !key;
    });
  };

  // What the browser itself opens or sends cannot carry the key: htmx does it instead.
  if (key) {
    const main = document.getElementById("content");
    main.setAttribute("hx-boost", "true");
    main.setAttribute("hx-target", "#content");
    main.setAttribute("hx-swap", "innerHTML");
  }

  const unlock = () => {
    const locked = document.querySelector("[data-locked]");
    if (!locked || !key || "refused" in locked.dataset) return;
    htmx.ajax("GET", location.pathname + location.search, { target: "#content", swap: "innerHTML" });
  };

  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-key-form]")) return;
    event.preventDefault();
    remember(new FormData(event.target).get("key"));
    location.reload();
  });

  // A key that was made just now: copied, or used from here on; else it is lost with the page.
  const unsaved = () => document.querySelector("[data-unsaved-key]");
  window.addEventListener("beforeunload", (event) => {
    if (unsaved()) event.preventDefault();
  });
  document.addEventListener("htmx:confirm", (event) => {
    const card = event.detail.elt.matches("a") && unsaved();
    if (card && !confirm(card.dataset.unsavedKey)) event.preventDefault();
    else if (card) card.removeAttribute("data-unsaved-key");
  });
  document.addEventListener("copy", () => unsaved()?.removeAttribute("data-unsaved-key"));

  document.addEventListener("click", (event) => {
    const { copyText, useKey, then } = event.target.dataset ?? {};
    if (copyText) copy(document.getElementById(copyText).textContent);
    if (copyText || useKey) unsaved()?.removeAttribute("data-unsaved-key");
    if (!useKey) return;
    remember(document.getElementById(useKey).textContent);
    location.assign(then);
  });

  document.addEventListener("click", (event) => {
    if (!event.target.matches("[data-key-clear]")) return;
    remember("");
    location.reload();
  });

  // A link cannot carry the key, so the file is fetched here and then handed to the browser.
  const download = async (link) => {
    const answer = await fetch(link.href, { headers: headers(), cache: "no-store" });
    if (!answer.ok) return say(await reasonOf(answer), true);
    const address = URL.createObjectURL(await answer.blob());
    const copy = Object.assign(document.createElement("a"), { href: address, download: link.download });
    copy.click();
    URL.revokeObjectURL(address);
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[download]");
    if (!link || !key || link.href.startsWith("blob:")) return;
    event.preventDefault();
    download(link).catch(() => say(text("unreachable"), true));
  });

  // The events of a stream, those that come together at a time.
  async function* eventsOf(answer) {
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let unread = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const events = (unread + value).split("\n\n");
      unread = events.pop();
      yield events.map((event) => ({
        name: event.match(/^event: (.*)$/m)?.[1],
        data: event.match(/^data: (.*)$/m)?.[1],
      }));
    }
  }

  document.addEventListener("htmx:configRequest", (event) => {
    Object.assign(event.detail.headers, headers());
  });

  // The menu of the key closes as menus do.
  const closeMenu = () => document.querySelector(".key-menu[open]")?.removeAttribute("open");

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !document.querySelector(".key-menu[open]")) return;
    closeMenu();
    document.querySelector(".key-menu summary").focus();
  });

  document.addEventListener("click", (event) => {
    if (!event.target.closest(".key-menu")) closeMenu();
  });

  const askForKey = () => document.querySelector("main [data-key-form] [name=key]")?.focus();

  document.addEventListener("DOMContentLoaded", () => {
    showHint();
    unlock();
    if (!key) askForKey();
  });

  document.addEventListener("htmx:afterSwap", (event) => {
    showHint();
    if (event.detail.target.id === "content") askForKey();
  });

  document.addEventListener("citewell:shown", () => showHint());

  return { headers, say, offerUndo, text, reasonOf, eventsOf, copy, hasKey: () => key !== "" };
})();
