// The desk: time left, notifications on request, and deleting that can be undone.
"use strict";

(() => {
  const PLACE = "citewell.notify";
  const { text } = citewell;
  let known = null;

  const kept = () => {
    try {
      return localStorage.getItem(PLACE) === "on";
    } catch {
      return false;
    }
  };
  const isOn = () => kept() && "Notification" in window && Notification.permission === "granted";

  const showCountdowns = () => {
    document.querySelectorAll("[data-countdown]").forEach((time) => {
      const seconds = Math.floor((new Date(time.dateTime) - Date.now()) / 1000);
      const minutes = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
      time.textContent = seconds > 0 ? text("minutes_left").replace("{time}", minutes) : text("time_is_up");
      time.hidden = false;
    });
  };

  const beep = () => {
    const sound = new AudioContext();
    const tone = sound.createOscillator();
    const volume = sound.createGain();
    volume.gain.value = 0.08;
    tone.connect(volume).connect(sound.destination);
    tone.start();
    tone.stop(sound.currentTime + 0.15);
    tone.addEventListener("ended", () => sound.close());
  };

  // Cards that came since the page was opened; the first look only learns them.
  const noticeNew = () => {
    const list = document.querySelector("[data-list=pending]");
    if (!list || !document.querySelector("[data-notify]")) return;
    const ids = new Set([...list.children].map((card) => card.id));
    const added = known === null ? [] : [...ids].filter((id) => !known.has(id));
    known = ids;
    if (!added.length || !isOn()) return;
    const question = document.getElementById(added[0]).querySelector(".question")?.textContent.trim();
    new Notification(text("new_question"), { body: question?.slice(0, 160), tag: added[0] });
    beep();
  };

  const showSwitch = () => {
    document.querySelector("[data-notify]")?.setAttribute("aria-pressed", String(isOn()));
  };

  const toggle = async () => {
    const turnOn = !isOn();
    if (turnOn && (await Notification.requestPermission()) !== "granted") return;
    try {
      localStorage.setItem(PLACE, turnOn ? "on" : "off");
    } catch {
      // Storage can be forbidden; there are no notifications then.
    }
    showSwitch();
  };

  const fill = ({ fill: id, fillWith, fillTask }) => {
    const field = document.getElementById(id);
    field.value = fillWith;
    field.form.elements.task_id.value = fillTask;
    field.focus();
  };

  // A directive is deleted at once, so that no agent takes it; undoing puts it back.
  const restore = async ({ undoBy, undoWith }, place) => {
    const body = new URLSearchParams({ ...JSON.parse(undoWith), place, form_token: document.body.dataset.formToken });
    const headers = { ...citewell.headers(), "HX-Request": "true" };
    const answer = await fetch(undoBy, { method: "POST", headers, body });
    if (!answer.ok) return citewell.say(await citewell.reasonOf(answer), true);
    citewell.say(text("restored"));
    document.dispatchEvent(new Event("desk-changed"));
  };

  document.addEventListener("htmx:afterRequest", (event) => {
    const form = event.target;
    if (!event.detail.successful || !form.matches?.("[data-undo-by]")) return;
    const card = form.closest("[data-list] > li");
    const place = [...card.parentElement.children].indexOf(card);
    const unreachable = () => citewell.say(text("unreachable"), true);
    citewell.offerUndo(form.dataset.undoSays, () => restore(form.dataset, place).catch(unreachable)).focus();
  });

  // What a button did and the page does not show by itself.
  document.addEventListener("htmx:afterRequest", ({ detail: { elt, successful } }) => {
    if (!successful || !elt.dataset.done) return;
    citewell.say(elt.dataset.done);
    document.getElementById(elt.dataset.opens)?.setAttribute("open", "");
    if ("closes" in elt.dataset) elt.closest("details").removeAttribute("open");
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-notify]")) toggle();
    const template = event.target.closest("[data-fill]");
    if (template) fill(template.dataset);
  });

  const start = () => {
    showSwitch();
    showCountdowns();
    const list = document.querySelector("[data-list=pending]");
    known = null;
    noticeNew();
    if (list) new MutationObserver(() => {
      noticeNew();
      showCountdowns();
    }).observe(list, { childList: true });
  };

  document.addEventListener("DOMContentLoaded", start);
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target.id === "content") start();
  });
  setInterval(showCountdowns, 1000);
})();
