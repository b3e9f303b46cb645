// The library: deleting can be undone for a while, ended work shows what it brought, files are imported.
"use strict";

(() => {
  const UNDO_SECONDS = 8;
  const { text } = citewell;
  let pending = null;

  // Boxes choose entries of a list: what is done with them is offered once one is ticked.
  const boxes = (name = "chosen") => [...document.querySelectorAll(`input[type=checkbox][name=${name}]`)];
  const chosen = (name) => boxes(name).filter((box) => box.checked);
  const listOf = (all) => all.dataset.tickAll || "chosen";

  const offerActions = () => {
    document.querySelectorAll("[data-when-chosen]").forEach((actions) => {
      actions.hidden = !chosen().length;
    });
    document.querySelectorAll("[data-tick-all]").forEach((all) => {
      const ticked = chosen(listOf(all)).length;
      all.checked = ticked > 0 && ticked === boxes(listOf(all)).length;
    });
  };

  // What is beyond the list is read too, unless something of the list is left out.
  const countTicked = () => {
    const place = document.querySelector("[data-ticked]");
    if (!place) return;
    const ticked = chosen(place.dataset.ticked).length;
    const isWhole = ticked === boxes(place.dataset.ticked).length;
    place.textContent = (ticked + (isWhole ? Number(place.dataset.beyond) : 0)).toLocaleString();
  };

  // A part that is polled comes back folded, and stays as the reader left it.
  let opened = [];
  document.addEventListener("htmx:beforeSwap", () => {
    opened = [...document.querySelectorAll("[data-stays-open][open]")].map((part) => part.id);
  });
  document.addEventListener("htmx:afterSwap", () => {
    opened.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
  });

  const send = (form, { check = false, ...options } = {}) => {
    const body = new URLSearchParams(new FormData(form));
    if (form.matches("[data-of-chosen]")) chosen().forEach((box) => body.append("chosen", box.value));
    if (check) body.set("check", "1");
    return fetch(form.action, { method: "POST", headers: citewell.headers(), body, redirect: "manual", ...options });
  };

  // A redirect that is not followed has no status: the server did what was asked.
  const isDone = (answer) => answer.ok || answer.type === "opaqueredirect";

  const drop = () => {
    const form = pending?.form;
    clearInterval(pending?.timer);
    pending = null;
    document.getElementById("content").classList.remove("going");
    return form;
  };

  const finish = async () => {
    const form = drop();
    const answer = await send(form);
    if (!isDone(answer)) return citewell.say(await citewell.reasonOf(answer), true);
    location.assign(form.dataset.undoTo || location.href);
  };

  const deleteSoon = async (form) => {
    // What would be refused is refused now, not when the time to undo is over.
    const answer = await send(form, { check: true });
    if (!isDone(answer)) return citewell.say(await citewell.reasonOf(answer), true);
    const undo = citewell.offerUndo(form.dataset.undo, () => {
      drop();
      citewell.say(text("undone"));
    });
    form.closest("details")?.removeAttribute("open");
    undo.focus();
    document.getElementById("content").classList.add("going");
    let seconds = UNDO_SECONDS;
    const count = () => {
      undo.textContent = text("undo_in").replace("{seconds}", seconds);
      if (seconds === 0) finish().catch(() => citewell.say(text("unreachable"), true));
      seconds -= 1;
    };
    pending = { form, timer: setInterval(count, 1000) };
    count();
  };

  // Whoever leaves the page has not changed their mind.
  const deleteNow = () => {
    if (pending) send(drop(), { keepalive: true }).catch(() => {});
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
    const answer = await fetch(`/library/import?${new URLSearchParams({ name: file.name })}`, {
      method: "POST",
      headers: { ...citewell.headers(), "Content-Type": "application/zip" },
      body: file,
    });
    if (!answer.ok) return citewell.say(await citewell.reasonOf(answer), true);
    const counts = { file: file.name, ...(await answer.json()) };
    citewell.say(Object.entries(counts).reduce((words, [name, value]) => words.replace(`{${name}}`, value), text("imported")));
    showAgain();
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    const unreachable = () => citewell.say(text("unreachable"), true);
    if (form.matches("[data-undo]")) {
      event.preventDefault();
      if (!pending) deleteSoon(form).catch(unreachable);
    } else if (form.matches("[data-import]")) {
      event.preventDefault();
      importFile(form).catch(unreachable);
    }
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-tick-all]")) boxes(listOf(event.target)).forEach((box) => (box.checked = event.target.checked));
    if (event.target.matches("[data-tick-all], [name=chosen], [name=keep]")) {
      offerActions();
      countTicked();
    }
    // A choice from a list is the whole of it; words are sent when they are written.
    if (event.target.matches(".filters select")) event.target.form.requestSubmit();
  });
  document.addEventListener("DOMContentLoaded", offerActions);
  document.addEventListener("htmx:afterSwap", offerActions);

  // Work that was polled has ended: the pages, sizes and changes beside it are not what they were.
  document.addEventListener("htmx:afterRequest", (event) => {
    const isPoll = event.detail.pathInfo?.requestPath.startsWith("/library/work");
    const work = document.getElementById("work");
    if (isPoll && event.detail.successful && work && !work.hasAttribute("hx-get")) showAgain();
  });

  window.addEventListener("pagehide", deleteNow);
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.requestConfig.triggeringEvent?.isTrusted) deleteNow();
  });
})();
