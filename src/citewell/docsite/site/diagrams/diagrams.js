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

  const draw = async () => {
    mermaid.initialize({ startOnLoad: false, securityLevel: "strict", theme: "base", themeVariables: colours() });
    for (const [at, { place, source }] of sources.entries()) {
      try {
        const { svg } = await mermaid.render(`_diagram-${at}`, source);
        place.innerHTML = svg;
        place.classList.add("drawn");
      } catch (error) {
        // The source stays in its place, which says more than a drawing of an error.
        document.getElementById(`d_diagram-${at}`)?.remove();
        if (!place.previousElementSibling?.matches(".diagram-fault")) place.before(faultOf(error));
      }
    }
  };

  new MutationObserver(draw).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
  dark.addEventListener("change", draw);
  draw();
})();
