// Resolves to what the document says once it has stood still for `quiet` milliseconds, or after `most`
// at the latest: how much text it holds, whether that is only a placeholder, and whether `awaited` (a
// text or a selector) is there. Shadow trees and frames of the same origin count as parts of it.
(quiet, most, awaited) => {
  const SHORT = 400;
  const PLACEHOLDER = /^\W*(?:loading|please wait|connecting|fetching|lädt|wird geladen|chargement|cargando|carregando|caricamento|загрузка|読み込み中|加载中|載入中|로딩)(?:[^.…]{0,40}(?:\.{2,3}|…)\s*|\W*)$/i;
  const BUSY = '[aria-busy="true"], [role="progressbar"], progress:not([value])';
  const SKIPPED = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE"]);

  const look = () => {
    let length = 0, isBusy = false, isThere = false, heldBack = 0, isForeign = false;
    const words = [];
    const walk = (root) => {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
        SKIPPED.has(node.tagName) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (node.nodeType === Node.TEXT_NODE) {
          const text = node.data.trim();
          if (!text) continue;
          length += text.length;
          if (awaited) words.push(text);
          if (text.length < 80 && PLACEHOLDER.test(text) && node.parentElement && node.parentElement.checkVisibility()) isBusy = true;
        } else if (node.shadowRoot) walk(node.shadowRoot);
        else if (node.localName === "iframe") {
          const inner = innerDocument(node);
          if (inner && inner.body) walk(inner.body);
          else if (!inner && node.clientWidth >= 300 && node.clientHeight >= 150) isForeign = true;
          if (inner && inner.readyState !== "complete") heldBack += 1;
        }
      }
      for (const busy of root.querySelectorAll(BUSY)) if (busy.checkVisibility()) isBusy = true;
      if (awaited && !isThere) {
        try {
          isThere = root.querySelector(awaited) !== null;
        } catch {
          isThere = false;
        }
      }
    };
    if (document.body) walk(document.body);
    if (awaited && !isThere) isThere = words.join(" ").replace(/\s+/g, " ").includes(awaited);
    return { length, isBusy, isShort: length < SHORT, isThere: !awaited || isThere, heldBack, isForeign };
  };
  const innerDocument = (frame) => {
    try {
      return frame.contentDocument;
    } catch {
      return null;
    }
  };
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      clearTimeout(calm);
      calm = setTimeout(() => finish(true), quiet);
    });
    const finish = (isStill) => {
      observer.disconnect();
      clearTimeout(end);
      clearTimeout(calm);
      resolve({ ...look(), isStill });
    };
    let calm = setTimeout(() => finish(true), quiet);
    const end = setTimeout(() => finish(false), most);
    const everything = { subtree: true, childList: true, characterData: true };
    const watch = (root) => {
      observer.observe(root, everything);
      for (const element of root.querySelectorAll("*")) if (element.shadowRoot) watch(element.shadowRoot);
    };
    watch(document);
  });
}
