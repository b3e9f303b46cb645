// Keeps lists true to the server: an event says that something changed, then the page is read again.
"use strict";

(() => {
  const RETRY_MILLISECONDS = 2000;
  let listening = null;
  let isLost = false;

  // Cards that did not change stay as they are, so that no half-written answer is lost.
  const bring = (list, fresh) => {
    const focusAgain = rememberFocus(list);
    const known = new Map([...list.children].map((card) => [card.id, card]));
    const cards = [...fresh.children].map((card) => {
      const old = known.get(card.id);
      return old && old.dataset.version === card.dataset.version ? old : document.importNode(card, true);
    });
    const added = cards.filter((card) => known.get(card.id) !== card);
    [...list.children].filter((card) => !cards.includes(card)).forEach((card) => card.remove());
    cards.forEach((card, at) => {
      if (list.children[at] !== card) list.insertBefore(card, list.children[at] ?? null);
    });
    added.forEach((card) => htmx.process(card));
    added.forEach(restoreDrafts);
    showTimes(list);
    focusAgain();
  };

  const controlsOf = (card) => [...card.querySelectorAll("button, input:not([type=hidden]), textarea, summary, a")];

  // A card that moves or is drawn again keeps the focus: on the same control, or the nearest that works.
  const rememberFocus = (list) => {
    const control = document.activeElement;
    const card = [...list.children].find((item) => item.contains(control));
    if (!card) return () => {};
    const place = controlsOf(card).indexOf(control);
    return () => {
      if (document.activeElement === control) return;
      const again = document.getElementById(card.id);
      if (!again) return document.getElementById("content").focus({ preventScroll: true });
      const controls = controlsOf(again);
      const nearest = [controls[place], ...controls.slice(place), ...controls].find((one) => one && !one.disabled);
      nearest?.focus();
    };
  };

  // What was written and not sent outlives a reload, in this tab only.
  const draftKey = (field) => `draft ${field.id}`;

  const keepDraft = (field) => {
    if (field.value && field.value !== field.defaultValue) sessionStorage.setItem(draftKey(field), field.value);
    else sessionStorage.removeItem(draftKey(field));
  };

  const restoreDrafts = (part) => {
    part.querySelectorAll("textarea[id]").forEach((field) => {
      const draft = sessionStorage.getItem(draftKey(field));
      if (draft !== null && field.value === field.defaultValue) field.value = draft;
    });
  };

  const dropDrafts = (form) => {
    form.querySelectorAll("textarea[id]").forEach((field) => sessionStorage.removeItem(draftKey(field)));
  };

  const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const relative = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "auto" });

  // Relative time, past or future; beyond a month, the date.
  const ageOf = (moment) => {
    const seconds = (moment - Date.now()) / 1000;
    if (Math.abs(seconds) > 31 * 86400) return moment.toISOString().slice(0, 10);
    const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? UNITS.at(-1);
    // What is almost a week away is so for the reader; what is past has its full units.
    return relative.format((seconds > 0 ? Math.round : Math.trunc)(seconds / length), unit);
  };

  const showTimes = (part) => {
    part.querySelectorAll("time").forEach((time) => {
      const moment = new Date(time.dateTime);
      if (Number.isNaN(moment.getTime())) return;
      if (time.matches("[data-countdown]")) return;
      const age = ageOf(moment);
      if (time.textContent !== age) time.textContent = age;
      time.title = moment.toLocaleString();
    });
  };

  const showCount = (area) => {
    const count = area.querySelector("[data-count]")?.textContent ?? "";
    document.title = `${count === "" ? "" : `(${count}) `}${area.dataset.title} · Citewell`;
  };

  // One reading at a time, and another after it if something changed meanwhile: of two at once, the
  // older could come last and take away what the newer has brought.
  let reading = null;
  let isStale = false;

  const refresh = (area) => {
    isStale = true;
    reading ??= (async () => {
      try {
        while (isStale) {
          isStale = false;
          await read(area);
        }
      } finally {
        reading = null;
      }
    })();
    return reading;
  };

  const refusal = (answer) => {
    // The key was revoked or has ended: the page as it opens now asks for another one.
    if (answer.status === 401) location.reload();
    return new Error(`status ${answer.status}`);
  };

  const read = async (area) => {
    const answer = await fetch(area.dataset.refresh, {
      headers: { ...citewell.headers(), "HX-Request": "true" },
      cache: "no-store",
    });
    if (!answer.ok) throw refusal(answer);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    area.querySelectorAll("[data-list]").forEach((list) => {
      const fresh = page.querySelector(`[data-list="${list.dataset.list}"]`);
      if (fresh) bring(list, fresh);
    });
    const count = page.querySelector("[data-count]");
    if (count) area.querySelector("[data-count]").textContent = count.textContent;
    showCount(area);
  };

  const follow = async (area, signal) => {
    const answer = await fetch(area.dataset.live, {
      headers: { ...citewell.headers(), Accept: "text/event-stream" },
      cache: "no-store",
      signal,
    });
    if (!answer.ok) throw refusal(answer);
    if (isLost) {
      isLost = false;
      citewell.say("");
    }
    for await (const events of citewell.eventsOf(answer)) {
      if (events.some(({ name }) => name === "changed")) await refresh(area);
    }
  };

  const listen = async (area) => {
    const ending = new AbortController();
    listening = { area, ending };
    while (area.isConnected && !ending.signal.aborted) {
      try {
        await follow(area, ending.signal);
      } catch (error) {
        if (ending.signal.aborted) return;
        isLost = true;
        citewell.say(citewell.text("connection_lost"), true);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
    }
  };

  const start = () => {
    showTimes(document);
    restoreDrafts(document);
    const area = document.querySelector("[data-live]");
    if (listening && listening.area !== area) {
      listening.ending.abort();
      listening = null;
    }
    if (!area || listening) return;
    showCount(area);
    listen(area);
  };

  document.addEventListener("desk-changed", () => {
    if (listening) refresh(listening.area).catch(() => citewell.say(citewell.text("list_unreadable"), true));
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-live] textarea[id]")) keepDraft(event.target);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful && event.target.matches("form")) dropDrafts(event.target);
  });
  document.addEventListener("DOMContentLoaded", start);
  // Every second, beside a countdown; it changes only what reads differently.
  setInterval(() => showTimes(document), 1000);
  document.addEventListener("htmx:afterSwap", start);
  document.addEventListener("citewell:shown", () => showTimes(document));
  window.addEventListener("pagehide", () => listening?.ending.abort());
})();
