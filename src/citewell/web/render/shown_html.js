// Returns the document as HTML, as its reader sees it: shadow trees and frames of the same origin
// stand where they are shown, what nobody can see is left out. Null when it is longer than `most`.
(most, colours, judging) => {
  const NEVER_SHOWN = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "LINK", "CANVAS"]);
  const VOID = new Set(["BR", "HR", "IMG", "INPUT", "WBR", "SOURCE", "COL", "AREA", "EMBED", "TRACK"]);
  // Far deeper than any page that was written to be read; deeper trees would exhaust the stack.
  const DEEPEST = 600;
  const NOTHING_SHOWN = 20;
  let out = [];
  let length = 0;
  let { judgeDocument, childrenOf, isShown } = judging(colours, false);

  const write = (text) => {
    length += text.length;
    if (length > most) throw new RangeError("too long");
    out.push(text);
  };
  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const attributes = (element) => {
    let text = "";
    for (const { name, value } of element.attributes) {
      if (name === "style" || !/^[^\s"'<>\/=\u0000]+$/.test(name)) continue;
      text += ` ${name}="${value.replace(/&/g, "&amp;").replace(/"/g, "&quot;")}"`;
    }
    return text;
  };
  const kept = (element) =>
    element.localName === "script" && /^(application\/ld\+json|math\/tex)/i.test(element.type || "");
  const frameBody = (element) => {
    try {
      return element.contentDocument && element.contentDocument.body;
    } catch {
      return null;
    }
  };

  const writeElement = (element, depth) => {
    const tag = element.localName;
    if (kept(element)) {
      write(`<script${attributes(element)}>${element.textContent.replace(/<\/script/gi, "")}</script>`);
      return;
    }
    if (NEVER_SHOWN.has(element.tagName)) return;
    if (!isShown(element)) return;
    if (tag === "iframe") {
      const body = element.offsetWidth > 2 && element.offsetHeight > 2 ? frameBody(element) : null;
      if (!body) return;
      judgeDocument(body);
      write("<div>");
      writeChildren(body, depth + 1);
      write("</div>");
      return;
    }
    // Custom elements and slots have no meaning of their own outside the browser.
    const name = tag === "slot" ? "span" : tag;
    write(`<${name}${attributes(element)}>`);
    if (VOID.has(element.tagName)) return;
    if (depth < DEEPEST) writeChildren(element, depth + 1);
    write(`</${name}>`);
  };
  const writeChildren = (element, depth) => {
    for (const child of childrenOf(element)) {
      if (child.nodeType === Node.TEXT_NODE) {
        if (isShown(child)) write(escaped(child.data));
      } else if (child.nodeType === Node.ELEMENT_NODE) writeElement(child, depth);
    }
  };
  const bodyHtml = () => {
    out = [];
    length = 0;
    write("<body>");
    if (document.body) {
      judgeDocument(document.body);
      writeChildren(document.body, 0);
    }
    write("</body>");
    return out.join("");
  };
  const headHtml = () => {
    const wanted = 'title, meta, base, link[rel~="canonical"], script[type="application/ld+json"]';
    return Array.from(document.head ? document.head.querySelectorAll(wanted) : [])
      .map((element) => element.outerHTML)
      .join("");
  };
  const textLength = (html) => html.replace(/<[^>]*>/g, "").trim().length;

  try {
    let body = bodyHtml();
    if (textLength(body) < NOTHING_SHOWN) {
      // A page that hides all of itself waits for something that is not loaded here, such as a font.
      ({ judgeDocument, childrenOf, isShown } = judging(colours, true));
      body = bodyHtml();
    }
    const language = document.documentElement.lang.replace(/[^\w-]/g, "");
    return `<!doctype html><html lang="${language}"><head>${headHtml()}</head>${body}</html>`;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
