// Opens what the reader of the page could open: collapsed blocks, tabs, tips. Their text belongs to it.
() => {
  const PANEL = /^(?:(?:sphinx-tabs|tabs?|tabbed)-?(?:pane|panel|content|block)|collaps(?:e|ible)(?:-?content|-?body)?|accordion-?(?:body|content|panel|collapse)|dyn(?:section|content)|(?:toggle|expand|expandable|spoiler|details)-?(?:content|body))$/i;
  const CONTROLS = "[aria-controls], [data-target], [data-bs-target], [popovertarget], [commandfor], [onclick], a[data-toggle], a[data-bs-toggle], a[role=tab]";
  const TARGETS = ["aria-controls", "data-target", "data-bs-target", "popovertarget", "commandfor", "href"];
  const STATE = /:(?:checked|target|focus-within|popover-open|open)\b|\[open\]|\.(?:is-)?(?:active|shown?|opened|open|expanded|visible|current|selected|in)\b/gi;
  const MOST_RULES = 5000;

  for (const details of document.querySelectorAll("details:not([open])")) details.open = true;
  for (const found of document.querySelectorAll('[hidden="until-found"]')) found.removeAttribute("hidden");

  const ids = new Set();
  for (const control of document.querySelectorAll(CONTROLS)) {
    for (const name of TARGETS)
      for (const id of (control.getAttribute(name) || "").split(/\s+/)) ids.add(id.replace(/^#/, ""));
    for (const [, id] of (control.getAttribute("onclick") || "").matchAll(/['"]#?([\w:.-]{1,200})['"]/g)) ids.add(id);
  }
  const panels = new Set(document.querySelectorAll('[role="tabpanel"]'));
  for (const id of ids) {
    const panel = id && document.getElementById(id);
    if (panel) panels.add(panel);
  }
  for (const element of document.querySelectorAll("[class]"))
    for (const name of element.classList) if (PANEL.test(name)) panels.add(element);

  // What a rule shows in a state that the reader brings about.
  let rulesLeft = MOST_RULES;
  const readRules = (rules) => {
    for (const rule of rules) {
      if ((rulesLeft -= 1) < 0) return;
      if (rule.cssRules && rule.cssRules.length) readRules(rule.cssRules);
      const selector = rule.selectorText || "";
      if (!selector || selector.includes(":not(") || !rule.style || selector.search(STATE) < 0) continue;
      const { display, visibility, opacity, maxHeight } = rule.style;
      const shows = (display && display !== "none") || visibility === "visible" || (opacity && opacity !== "0") || (maxHeight && maxHeight !== "0px");
      const relaxed = selector.replace(STATE, "");
      if (!shows || !/[\w\])]$/.test(relaxed.trim())) continue;
      try {
        for (const element of document.querySelectorAll(relaxed)) panels.add(element);
      } catch {
        continue;
      }
    }
  };
  for (const sheet of document.styleSheets) {
    try {
      readRules(sheet.cssRules);
    } catch {
      // A sheet of another origin cannot be read.
      continue;
    }
  }

  for (const panel of panels) {
    if (["BODY", "HTML"].includes(panel.tagName) || panel.closest("nav, [role=navigation], [role=menu]")) continue;
    panel.removeAttribute("hidden");
    panel.removeAttribute("popover");
    const style = getComputedStyle(panel);
    const shown = { visibility: "visible", opacity: "1", "max-height": "none", transition: "none" };
    if (style.display === "none") shown.display = "revert";
    if (style.height === "0px") shown.height = "auto";
    for (const [name, value] of Object.entries(shown)) panel.style.setProperty(name, value, "important");
    if (getComputedStyle(panel).display === "none") panel.style.setProperty("display", "block", "important");
  }
}
