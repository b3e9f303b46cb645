// Draws the Mermaid diagrams of the page, in its colours, and again when these change.
"use strict";

(() => {
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  // The colours of the site, which have been chosen for contrast.
  const colours = () => {
    // Only as the colour of something is one of a light and a dark colour chosen.
    const sample = document.body.appendChild(document.createElement("i"));
    const of = (name) => {
      sample.style.color = `var(--${name})`;
      return getComputedStyle(sample).color;
    };
    const chosen = {
      background: of("paper"),
      primaryColor: of("raised"),
      primaryTextColor: of("ink"),
      primaryBorderColor: of("muted"),
      secondaryColor: of("accent-soft"),
      tertiaryColor: of("paper"),
      lineColor: of("muted"),
      textColor: of("ink"),
      edgeLabelBackground: of("paper"),
      fontFamily: getComputedStyle(root).fontFamily,
    };
    sample.remove();
    return chosen;
  };

  const address = document.currentScript.dataset.mermaid;
  let loading = null;
  const load = () => {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      Object.assign(script, { src: address, onload: resolve, onerror: reject });
      document.head.append(script);
    });
    return loading;
  };

  const sources = [...document.querySelectorAll("pre.diagram")].map((place) => ({
    place,
    source: place.textContent,
  }));

  // Mermaid's message has the line of the source and what it expected there, below each other.
  const faultOf = (error) => {
    const note = document.createElement("p");
    note.className = "diagram-fault";
    const line = /line (\d+)/.exec(error.message);
    const where = line ? ` Look at line ${line[1]} of its source:` : " This is its source:";
    note.textContent = `This diagram cannot be drawn.${where}`;
    return note;
  };

  // A drawing that is a little too high for the room kept for it is made smaller, one that is far
  // higher takes more: to be read matters more than that nothing moves.
  const LEAST_SCALE = 0.85;
  const fit = (place) => {
    const drawing = place.firstElementChild;
    const scale = place.clientHeight / drawing.getBoundingClientRect().height;
    if (scale >= LEAST_SCALE && scale < 1) drawing.style.maxHeight = `${place.clientHeight}px`;
    else if (scale < LEAST_SCALE) place.classList.add("free");
  };

  const draw = async () => {
    await load();
    mermaid.initialize({ startOnLoad: false, securityLevel: "strict", theme: "base", themeVariables: colours() });
    for (const [at, { place, source }] of sources.entries()) {
      try {
        const { svg } = await mermaid.render(`_diagram-${at}`, source);
        place.innerHTML = svg;
        place.classList.add("drawn");
        fit(place);
      } catch (error) {
        // The source stays in its place, which says more than a drawing of an error.
        document.getElementById(`d_diagram-${at}`)?.remove();
        if (!place.previousElementSibling?.matches(".diagram-fault")) place.before(faultOf(error));
      }
    }
  };

  // Mermaid has megabytes: it is loaded when a reader comes near the first diagram.
  const begin = () => {
    draw();
    new MutationObserver(draw).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
    dark.addEventListener("change", draw);
  };
  const nearing = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    nearing.disconnect();
    begin();
  }, { rootMargin: "800px" });
  for (const { place } of sources) nearing.observe(place);
  // Paper shows all of them.
  addEventListener("beforeprint", () => {
    nearing.disconnect();
    if (!loading) begin();
  });
})();
