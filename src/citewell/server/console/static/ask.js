// The question box: evidence is shown as the server finds it.
"use strict";

(() => {
  let asking = null;

  const { text } = citewell;
  const part = (name) => document.querySelector(`[data-${name}]`);

  const item = (content, className = "") => {
    const element = document.createElement("li");
    element.textContent = content;
    element.className = className;
    return element;
  };

  const showStep = ({ message }) => {
    const lead = text("evidence_so_far");
    if (message.startsWith(lead)) {
      const found = message.slice(lead.length).split(" | ");
      part("so-far-list").replaceChildren(...found.map((quote) => item(quote, "card")));
      part("so-far").hidden = false;
      return;
    }
    part("step").textContent = message;
    if (part("steps").lastElementChild?.textContent !== message) part("steps").append(item(message));
  };

  const showFound = ({ html }) => {
    const found = document.getElementById("found");
    // First, lest what was found jumps up when it goes.
    document.getElementById("progress").hidden = true;
    found.innerHTML = html;
    htmx.process(found);
    document.dispatchEvent(new CustomEvent("citewell:shown"));
    const isElsewhere = document.activeElement.matches("a, input, select, button:not([type=submit])");
    if (!isElsewhere) document.getElementById("found-heading").focus({ preventScroll: true });
  };

  // At the field of the pages, where one of them is why.
  const showFailure = ({ message, of_pages: isOfPages }) => {
    const place = isOfPages && document.getElementById("urls-problem");
    if (place) {
      document.querySelector(".ask-pages").open = true;
      place.textContent = message;
      document.getElementById("urls").setAttribute("aria-invalid", "true");
      document.getElementById("urls").focus();
      return;
    }
    const line = Object.assign(document.createElement("p"), { className: "error", textContent: message });
    line.setAttribute("role", "alert");
    document.getElementById("found").replaceChildren(line);
  };

  const begin = (form) => {
    document.getElementById("urls")?.removeAttribute("aria-invalid");
    document.getElementById("urls-problem")?.replaceChildren();
    document.querySelector(".ask").classList.remove("fresh");
    document.getElementById("found").replaceChildren();
    part("steps").replaceChildren();
    part("so-far").hidden = true;
    part("step").textContent = text("asking");
    document.querySelector("[data-ask-stop]").hidden = false;
    document.getElementById("progress").hidden = false;
    form.setAttribute("aria-busy", "true");
    citewell.say("");
  };

  const end = (form) => {
    document.getElementById("progress").hidden = true;
    form.removeAttribute("aria-busy");
  };

  // What was read so far stays in sight; the question can be changed at once.
  const showStopped = (form) => {
    part("step").textContent = text("stopped");
    document.querySelector("[data-ask-stop]").hidden = true;
    form.removeAttribute("aria-busy");
    document.getElementById("question").focus();
  };

  // The address then searches again what is indexed by now; nothing is fetched for it.
  const remember = (fields) => {
    const query = new URLSearchParams({ q: fields.get("q").trim() });
    const urls = (fields.get("urls") ?? "").split(/\s+/).filter(Boolean);
    if (fields.get("site") && !urls.length) query.set("site", fields.get("site"));
    for (const url of urls) query.append("url", url);
    history.pushState(null, "", `/?${query}`);
  };

  // `again`: for an address that names a question; what it cited before is not counted twice.
  const ask = async (form, { again = false } = {}) => {
    asking?.abort();
    const mine = new AbortController();
    asking = mine;
    const fields = new FormData(form);
    if (again) fields.set("again", "1");
    begin(form);
    try {
      const answer = await fetch(form.action, {
        method: "POST",
        headers: { ...citewell.headers(), Accept: "text/event-stream" },
        body: new URLSearchParams(fields),
        signal: mine.signal,
      });
      if (!answer.ok) throw new Error(await citewell.reasonOf(answer));
      for await (const events of citewell.eventsOf(answer)) {
        for (const { name, data } of events) {
          if (name === "progress") showStep(JSON.parse(data));
          else if (name === "failed") showFailure(JSON.parse(data));
          else if (name === "found") showFound(JSON.parse(data));
        }
      }
      if (!again) remember(fields);
    } catch (error) {
      if (asking !== mine) return;
      if (mine.signal.aborted) return showStopped(form);
      citewell.say(error.message, true);
    } finally {
      if (asking === mine && !mine.signal.aborted) end(form);
    }
  };

  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-ask]")) return;
    event.preventDefault();
    ask(event.target);
  });

  const askFromAddress = () => {
    const form = document.querySelector("[data-begins]");
    if (!form) return;
    form.removeAttribute("data-begins");
    ask(form, { again: true });
  };
  document.addEventListener("DOMContentLoaded", askFromAddress);
  document.addEventListener("htmx:afterSettle", askFromAddress);

  // A question has several lines only where its box is narrow.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.target.id !== "question") return;
    event.preventDefault();
    event.target.form.requestSubmit();
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-ask-stop]")) asking?.abort();
    const page = event.target.closest("[data-ask-url]");
    if (page) {
      document.querySelector(".ask-pages").open = true;
      document.getElementById("urls").value = page.dataset.askUrl;
      document.querySelector("[data-ask]").requestSubmit();
    }
    const button = event.target.closest("[data-copy]");
    if (button) citewell.copy(document.getElementById(button.dataset.copy).value);
  });

  window.addEventListener("popstate", () => {
    if (document.querySelector("[data-ask]")) location.reload();
  });
})();
