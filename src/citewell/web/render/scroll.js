// Scrolls the page, and the longest part of it that scrolls by itself, to its end. Returns whether
// anything moved.
() => {
  let moved = false;
  const toEnd = (element) => {
    const before = element.scrollTop;
    element.scrollTo({ top: element.scrollHeight, behavior: "instant" });
    moved = moved || element.scrollTop > before;
  };
  toEnd(document.scrollingElement || document.documentElement);
  const parts = Array.from(document.querySelectorAll("main, div, section, ul, ol, table"))
    .filter((part) => part.scrollHeight > part.clientHeight + 50 && part.clientHeight > 100
      && ["auto", "scroll"].includes(getComputedStyle(part).overflowY))
    .sort((a, b) => b.scrollHeight - a.scrollHeight);
  for (const part of parts.slice(0, 2)) toEnd(part);
  return moved;
}
