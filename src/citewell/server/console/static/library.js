// The library: deleting can be undone for a while, ended work shows what it brought, files are imported.
"use strict";

(() => {
  const UNDO_MILLISECONDS = 8000;
  const { text } = citewell;
  let pending = null;

  const send = (form, options = {}) =>
    fetch(form.action, {
      method: "POST",
      headers: citewell.headers(),
      body: new URLSearchParams(new FormData(form)),
      redirect: "manual",
      ...options,
    });

  const finish = async () => {
    const { form, timer } = pending;
    clearTimeout(timer);
    pending = null;
    const answer = await send(form);
    // A redirect that is not followed has no status: the server did what was asked.
    if (answer.type !== "opaqueredirect" && !answer.ok) {
      return citewell.say(await citewell.reasonOf(answer), true);
    }
    location.assign(form.dataset.undoTo);
  };

  const offerUndo = (form) => {
    citewell.say(form.dataset.undo);
    const undo = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: text("undo") });
    undo.addEventListener("click", () => {
      clearTimeout(pending?.timer);
      pending = null;
      citewell.say(text("undone"));
    });
    document.getElementById("message").append(" ", undo);
    form.closest("details")?.removeAttribute("open");
    undo.focus();
    const timer = setTimeout(() => finish().catch(() => citewell.say(text("unreachable"), true)), UNDO_MILLISECONDS);
    pending = { form, timer };
  };

  // Brings what has changed on this page, unless somebody is writing on it.
  const showAgain = () => {
    const content = document.getElementById("content");
    if (content.querySelector("input:focus, textarea:focus, select:focus")) return;
    htmx.ajax("GET", location.pathname + location.search, { target: "#content", swap: "innerHTML" });
  };

  const importFile = async (form) => {
    const [file] = form.querySelector("input[type=file]").files;
    citewell.say(text("importing"));
    const answer = await fetch("/library/import", {
      method: "POST",
      headers: { ...citewell.headers(), "Content-Type": "application/zip" },
      body: file,
    });
    const body = await answer.json();
    if (!answer.ok) return citewell.say(`${body.error} ${body.suggestion}`, true);
    citewell.say(text("imported").replace("{pages}", body.pages).replace("{websites}", body.websites));
    showAgain();
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.matches("[data-undo]")) {
      event.preventDefault();
      if (!pending) offerUndo(form);
    } else if (form.matches("[data-import]")) {
      event.preventDefault();
      importFile(form).catch(() => citewell.say(text("unreachable"), true));
    }
  });

  // Work that was polled has ended: the pages, sizes and changes beside it are not what they were.
  document.addEventListener("htmx:afterRequest", (event) => {
    const isPoll = event.detail.pathInfo?.requestPath.startsWith("/library/work");
    const work = document.getElementById("work");
    if (isPoll && event.detail.successful && work && !work.hasAttribute("hx-get")) showAgain();
  });

  // Whoever leaves the page has not changed their mind.
  window.addEventListener("pagehide", () => {
    if (pending) send(pending.form, { keepalive: true }).catch(() => {});
  });
})();
