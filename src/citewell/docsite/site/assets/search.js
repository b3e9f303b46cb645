// The search box: results as you type, by keyboard as well. Without scripts the form is sent.
"use strict";

(() => {
  const RESULTS = 8;
  const form = document.querySelector("form[data-search]");
  const input = form.querySelector("input");
  const list = document.createElement("ul");
  let hits = [];
  let selected = -1;
  let latest = 0;

  // A script, not JSON: pages opened from a disk may not fetch.
  let loading = null;
  function loadIndex() {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = form.dataset.index;
      script.addEventListener("load", () => resolve(window.docsRanking(window.docsSearchIndex)));
      script.addEventListener("error", () => reject(new Error("the search index is missing")));
      document.head.append(script);
    });
    return loading;
  }

  async function find(query, limit) {
    if (form.dataset.index) return (await loadIndex()).search(query, limit);
    const address = `${form.dataset.endpoint}?q=${encodeURIComponent(query)}&limit=${limit}`;
    const answer = await fetch(address, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`search answered ${answer.status}`);
    return answer.json();
  }

  // Addresses of results begin at the root of the site, which may lie below that of the host.
  const addressOf = (hit) => hit.address ?? form.dataset.root + hit.url.replace(/^\//, "");

  // The list ends where the search page goes on.
  const allOf = (query) => {
    const address = new URL(form.action);
    address.search = new URLSearchParams({ q: query });
    return { address: address.href, title: "All results", snippet: "" };
  };

  // Whole words that begin so; text without spaces has no words.
  const beginningWith = (word) =>
    word < "\u0e00" ? `(?<![\\p{L}\\p{N}])${word}[\\p{L}\\p{N}]*` : word;

  function marked(text, query, className = "hit-text") {
    const words = (query.match(/[\p{L}\p{N}]+/gu) ?? []).sort((a, b) => b.length - a.length);
    const span = document.createElement("span");
    span.className = className;
    if (!words.length) {
      span.textContent = text;
      return span;
    }
    // Splitting by a group puts what matched at the odd places.
    text.split(new RegExp(`(${words.map(beginningWith).join("|")})`, "giu")).forEach((piece, at) => {
      const node = at % 2 ? document.createElement("mark") : document.createTextNode("");
      node.textContent = piece;
      span.append(node);
    });
    return span;
  }

  // By script, which is what tells the pages of one documentation apart.
  const SCRIPTS = [
    ["ja", /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
    ["ko", /\p{Script=Hangul}/u],
    ["zh", /\p{Script=Han}/u],
  ];
  const NAMES = { ja: "日本語", ko: "한국어", zh: "中文", "": "A–Z" };
  const scriptOf = (text) => SCRIPTS.find(([, letters]) => letters.test(text))?.[0] ?? "";
  const pageScript = scriptOf(document.querySelector("main").textContent.slice(0, 2000));
  const languageOf = (hit) => scriptOf(`${hit.title} ${hit.snippet}`);

  // Of a page in several languages, that in the language of the reader's page comes first.
  const fileOf = (hit) => hit.path.split("/").at(-1);
  function inOrder(found) {
    const left = [...found];
    const ordered = [];
    while (left.length) {
      const first = left[0];
      const own = left.findIndex((hit) => fileOf(hit) === fileOf(first) && languageOf(hit) === pageScript);
      const isOwn = own < 0 || languageOf(first) === pageScript;
      ordered.push(...left.splice(isOwn ? 0 : own, 1));
    }
    return ordered;
  }

  function line(hit, query) {
    const link = document.createElement("a");
    link.href = addressOf(hit);
    if (languageOf(hit)) link.lang = languageOf(hit);
    link.tabIndex = -1;
    const title = marked(hit.title, hit.address ? "" : query, "hit-title");
    if (hit.section && hit.section !== hit.title) {
      const section = document.createElement("span");
      section.className = "hit-section";
      section.textContent = ` › ${hit.section}`;
      title.append(section);
    }
    if (!hit.address && languageOf(hit) !== pageScript) {
      const label = document.createElement("span");
      label.className = "hit-language";
      label.textContent = NAMES[languageOf(hit)];
      title.append(" ", label);
    }
    link.append(title, marked(hit.snippet, query));
    return link;
  }

  function show({ results: found, marks }, query) {
    const told = [query, ...marks].join(" ");
    hits = inOrder(found);
    if (found.length >= RESULTS) hits.push(allOf(query));
    select(-1);
    list.replaceChildren();
    for (const [at, hit] of hits.entries()) {
      const link = line(hit, told);
      link.id = `docs-hit-${at}`;
      link.setAttribute("role", "option");
      const item = document.createElement("li");
      item.setAttribute("role", "presentation");
      item.append(link);
      list.append(item);
    }
    if (!hits.length) note("No page has these words.");
    open();
  }

  function note(text) {
    const item = document.createElement("li");
    item.className = "search-note";
    item.setAttribute("role", "option");
    item.setAttribute("aria-disabled", "true");
    item.textContent = text;
    list.replaceChildren(item);
  }

  function open() {
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
  }

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    select(-1);
  }

  function select(at) {
    selected = at;
    for (const [i, option] of list.querySelectorAll("[role=option]").entries()) {
      option.setAttribute("aria-selected", String(i === at));
      if (i === at) option.scrollIntoView({ block: "nearest" });
    }
    if (at >= 0) input.setAttribute("aria-activedescendant", `docs-hit-${at}`);
    else input.removeAttribute("aria-activedescendant");
  }

  async function update() {
    const query = input.value.trim();
    const turn = ++latest;
    if (!query) {
      hits = [];
      close();
      return;
    }
    try {
      const found = await find(query, RESULTS);
      // A slow answer to what was typed before must not replace a newer one.
      if (turn === latest) show(found, query);
    } catch {
      if (turn !== latest) return;
      hits = [];
      note("Search is not available just now.");
      open();
    }
  }

  function onKey(event) {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      if (list.hidden) input.blur();
      close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden && hits.length) open();
      if (!hits.length) return;
      const step = event.key === "ArrowDown" ? 1 : -1;
      const places = hits.length + 1;
      select(((selected + 1 + step + places) % places) - 1);
    } else if (event.key === "Enter" && !list.hidden && selected >= 0) {
      event.preventDefault();
      location.href = addressOf(hits[selected]);
      close();
    }
  }

  function onPageKey(event) {
    const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
    const isCommand = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
    const isSlash = event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey;
    if (event.altKey || (!isCommand && !isSlash)) return;
    event.preventDefault();
    input.focus({ preventScroll: true });
    input.select();
  }

  // The search page of an exported site: no server reads its query.
  async function fillSearchPage() {
    const page = document.querySelector("[data-search-page]");
    const query = new URLSearchParams(location.search).get("q")?.trim();
    if (!page || !form.dataset.index || !query) return;
    page.querySelector("input").value = query;
    const { results: found, marks } = await find(query, 20);
    const told = [query, ...marks].join(" ");
    const place = page.querySelector("[data-search-list]");
    const results = document.createElement("ol");
    results.className = "result-list";
    for (const hit of found) {
      const item = document.createElement("li");
      const link = line(hit, told);
      link.removeAttribute("tabindex");
      const words = link.querySelector(".hit-text");
      const section = link.querySelector(".hit-section");
      item.append(link, ...(section ? [section] : []), words);
      results.append(item);
    }
    if (found.length) place.replaceChildren(results);
    else place.textContent = "No page has these words.";
  }

  list.className = "search-results";
  list.id = "docs-search-results";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Search results");
  form.append(list);
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-expanded", "false");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-autocomplete", "list");
  // On a phone there is neither the key nor the room to name it.
  if (matchMedia("(min-width: 54rem)").matches) input.placeholder = "Search (Ctrl K)";
  input.addEventListener("input", update);
  input.addEventListener("focus", () => {
    if (form.dataset.index) loadIndex().catch(() => (loading = null));
    if (hits.length) open();
  });
  input.addEventListener("keydown", onKey);
  document.addEventListener("keydown", onPageKey);
  document.addEventListener("click", (event) => {
    if (!form.contains(event.target)) close();
  });
  fillSearchPage();
})();
