// What a page gains from scripts: the switch of colours, copy buttons, the outline that follows.
"use strict";

(() => {
  const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

  function keepTheme(theme) {
    try {
      // The system's own choice is not kept, so that the page follows the system again.
      if ((theme === "dark") === systemIsDark.matches) {
        localStorage.removeItem("docs-theme");
      } else {
        localStorage.setItem("docs-theme", theme);
      }
    } catch {
      // Storage can be forbidden; the choice then lasts for this page.
    }
  }

  function startThemeSwitch() {
    const button = document.querySelector("[data-theme-switch]");
    const root = document.documentElement;
    const isDark = () =>
      root.dataset.theme ? root.dataset.theme === "dark" : systemIsDark.matches;
    button.setAttribute("aria-pressed", String(isDark()));
    button.hidden = false;
    button.addEventListener("click", () => {
      const theme = isDark() ? "light" : "dark";
      root.dataset.theme = theme;
      button.setAttribute("aria-pressed", String(theme === "dark"));
      keepTheme(theme);
    });
  }

  function addCopyButtons() {
    if (!navigator.clipboard) return;
    for (const block of document.querySelectorAll(".content .code")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy";
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(codeOf(block));
        button.textContent = "Copied";
        setTimeout(() => (button.textContent = "Copy"), 1500);
      });
      block.append(button);
    }
  }

  // Without the prompts of a shell session, which nobody wants to paste.
  function codeOf(block) {
    const code = block.querySelector("code").cloneNode(true);
    for (const extra of code.querySelectorAll(".gp, .line-number")) extra.remove();
    return code.textContent.replace(/\n$/, "");
  }

  // The tabs of a set become one place with a row of buttons; the same choice is made wherever it
  // is offered.
  function joinTabs() {
    const titleOf = (tab) => tab.querySelector(":scope > .callout-title")?.textContent.trim() ?? "";
    [...document.querySelectorAll(".content .tabs")].forEach((set, group) => {
      const tabs = [...set.children].filter((each) => each.matches(".tab"));
      if (tabs.length < 2) return;
      const row = document.createElement("div");
      row.className = "tab-row";
      row.setAttribute("role", "tablist");
      const buttons = tabs.map((tab, at) => tabButton(tab, titleOf(tab), `_tab-${group}-${at}`));
      row.append(...buttons);
      set.prepend(row);
      chooseTab(row, Math.max(0, tabs.findIndex((tab) => tab.matches(".chosen"))));
    });
  }

  function tabButton(tab, title, id) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: title, id: `${id}-button` });
    button.setAttribute("role", "tab");
    button.setAttribute("aria-controls", id);
    tab.id = id;
    tab.setAttribute("role", "tabpanel");
    tab.setAttribute("aria-labelledby", button.id);
    tab.querySelector(":scope > .callout-title").hidden = true;
    button.addEventListener("click", () => {
      for (const row of document.querySelectorAll(".tab-row")) {
        const at = [...row.children].findIndex((other) => other.textContent === title);
        if (at >= 0) chooseTab(row, at);
      }
    });
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const all = [...button.parentElement.children];
      const next = all.at((all.indexOf(button) + step) % all.length);
      next.click();
      next.focus();
    });
    return button;
  }

  function chooseTab(row, chosen) {
    for (const [at, button] of [...row.children].entries()) {
      button.setAttribute("aria-selected", String(at === chosen));
      button.tabIndex = at === chosen ? 0 : -1;
      document.getElementById(button.getAttribute("aria-controls")).hidden = at !== chosen;
    }
  }

  // Beside the text on a wide screen; without scripts the folded one is there.
  function showOutline() {
    const list = document.querySelector(".outline-fold ul");
    if (list) document.querySelector(".outline").append(list.cloneNode(true));
  }

  // The pages of very many headings come without these for the lower ones.
  function addPermalinks() {
    for (const heading of document.querySelectorAll(".content :is(h3, h4, h5, h6)[id]")) {
      if (heading.querySelector(".permalink")) continue;
      const link = document.createElement("a");
      Object.assign(link, { className: "permalink", href: `#${heading.id}`, textContent: "#" });
      link.setAttribute("aria-label", "Link to this section");
      heading.append(" ", link);
    }
  }

  function followOutline() {
    const links = new Map();
    for (const link of document.querySelectorAll(".outline a")) {
      links.set(decodeURIComponent(link.hash.slice(1)), link);
    }
    const headings = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
    if (!headings.length) return;
    const markCurrent = () => {
      const line = window.innerHeight / 4;
      const above = headings.filter((each) => each.getBoundingClientRect().top < line);
      const current = above.at(-1) ?? headings[0];
      for (const [id, link] of links) {
        if (id === current.id) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    };
    let waiting = false;
    addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        markCurrent();
      });
    }, { passive: true });
    markCurrent();
  }

  function showCurrentPage() {
    const sidebar = document.querySelector(".sidebar");
    const current = sidebar?.querySelector("[aria-current]");
    if (!current) return;
    const space = current.getBoundingClientRect().top - sidebar.getBoundingClientRect().top;
    if (space > sidebar.clientHeight * 0.8) sidebar.scrollTop = space - sidebar.clientHeight / 3;
  }

  // On a narrow screen the menu is a panel, which a style rule shows at its address so that it works
  // without scripts. With them the address stays, and the panel closes as readers expect.
  function startMenu() {
    const link = document.querySelector(".menu-link");
    const sidebar = document.querySelector(".sidebar");
    // Scripts may have come after the link was followed.
    const isOpen = () => sidebar.matches(".open, :target");
    const isWide = matchMedia("(min-width: 54.01rem)");
    // What lies below the panel is out of reach, for the keyboard as well.
    const coverPage = () => {
      for (const part of document.querySelectorAll(".columns > :not(.sidebar)")) {
        part.inert = isOpen() && !isWide.matches;
      }
    };
    const show = (opens) => {
      sidebar.classList.toggle("open", opens);
      coverPage();
      document.documentElement.classList.toggle("menu-open", opens);
      link.setAttribute("aria-expanded", String(opens));
      if (!opens) return;
      showCurrentPage();
      sidebar.querySelector(".close-link").focus({ preventScroll: true });
    };
    const close = () => {
      if (!isOpen()) return;
      // The reader goes on where the menu was opened.
      const hadFocus = sidebar.contains(document.activeElement);
      if (sidebar.matches(":target")) location.hash = "_content";
      show(false);
      if (hadFocus) link.focus({ preventScroll: true });
    };
    link.setAttribute("role", "button");
    link.setAttribute("aria-controls", sidebar.id);
    link.setAttribute("aria-expanded", "false");
    link.addEventListener("click", (event) => {
      event.preventDefault();
      if (isOpen()) close();
      else show(true);
    });
    link.addEventListener("keydown", (event) => {
      if (event.key !== " ") return;
      event.preventDefault();
      link.click();
    });
    sidebar.querySelector(".close-link").addEventListener("click", (event) => {
      event.preventDefault();
      close();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") close();
    });
    document.addEventListener("click", (event) => {
      if (!sidebar.contains(event.target) && !link.contains(event.target)) close();
    });
    // A wide screen shows the menu beside the text.
    isWide.addEventListener("change", close);
    coverPage();
  }

  startThemeSwitch();
  addCopyButtons();
  joinTabs();
  addPermalinks();
  showOutline();
  followOutline();
  showCurrentPage();
  startMenu();
})();
