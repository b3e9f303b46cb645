// Returns a function that decides whether a reader can see a text node: by where it
// is painted, how large, in which colour on which background, and what is cut off or lies above it.
(colours, lenient) => {
  const LEAST_TEXT_HEIGHT = 3;
  const LEAST_PIXELS = 1;
  const MUCH_BLUR = 8;
  const MOST_HIT_TESTS = 4000;
  // A page that would lose this share of its text has a layer on top that the reader can close.
  const COVERED_SHARE = 0.5;
  const CLIPS = new Set(["hidden", "clip"]);
  const SCROLLS = new Set(["auto", "scroll"]);
  const MOVING = /\b(?:slick|swiper|splide|carousel|slide|glide|marquee)/i;
  const verdicts = new Map();
  let hitTests = 0;


  const childrenOf = (element) => {
    if (element.shadowRoot) return element.shadowRoot.childNodes;
    if (element.localName === "slot") {
      const assigned = element.assignedNodes({ flatten: true });
      if (assigned.length) return assigned;
    }
    return element.childNodes;
  };
  const numbers = (text) => (text.match(/-?[\d.]+(?:e-?\d+)?(?:px|%)?/g) || []);
  const resolved = (text, size) => (text.endsWith("%") ? (parseFloat(text) * size) / 100 : parseFloat(text));

  const shapeIsEmpty = (shape, box) => {
    const [, name, inside] = /^([a-z-]+)\((.*)\)/.exec(shape) || [];
    if (!name) return false;
    const values = numbers(inside.split(" at ")[0].split(" round ")[0]);
    if (name === "url" || name === "shape") return true;
    if (name === "inset" && values.length) {
      const [top, right = top, bottom = top, left = right] = values;
      return resolved(top, box.height) + resolved(bottom, box.height) >= box.height - LEAST_PIXELS
        || resolved(left, box.width) + resolved(right, box.width) >= box.width - LEAST_PIXELS;
    }
    if (name === "circle" || name === "ellipse") {
      const [x = "50%", y = "50%"] = numbers(inside.split(" at ")[1] || "");
      const [across, down = across] = values.map((value) => resolved(value, box.width));
      if (resolved(x, box.width) + across <= LEAST_PIXELS || resolved(y, box.height) + down <= LEAST_PIXELS) return true;
    }
    if (name === "circle") return values.length > 0 && resolved(values[0], box.width) <= LEAST_PIXELS;
    if (name === "ellipse") return values.length > 1 && values.some((v) => resolved(v, box.width) <= LEAST_PIXELS);
    if (name === "path") return pathIsEmpty(inside);
    if (name !== "polygon") return false;
    const points = inside.split(",").map(numbers).filter((pair) => pair.length === 2)
      .map(([x, y]) => [resolved(x, box.width), resolved(y, box.height)]);
    if (points.every(([x]) => x <= LEAST_PIXELS) || points.every(([, y]) => y <= LEAST_PIXELS)) return true;
    let area = 0;
    points.forEach(([x, y], i) => {
      const [nextX, nextY] = points[(i + 1) % points.length];
      area += x * nextY - nextX * y;
    });
    return Math.abs(area) / 2 <= LEAST_PIXELS;
  };
  // A path in a picture of its own says how large it is, and where.
  const pathIsEmpty = (inside) => {
    const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const path = drawing.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "path"));
    path.setAttribute("d", (/"([^"]*)"/.exec(inside) || ["", ""])[1]);
    drawing.style.cssText = "position:absolute;width:0;height:0";
    document.documentElement.appendChild(drawing);
    const box = path.getBBox();
    drawing.remove();
    return box.width <= LEAST_PIXELS || box.height <= LEAST_PIXELS
      || box.x + box.width <= LEAST_PIXELS || box.y + box.height <= LEAST_PIXELS;
  };
  const isClippedAway = (element, style) => {
    if (style.clip.startsWith("rect(") && ["absolute", "fixed"].includes(style.position)) {
      const [top, right, bottom, left] = style.clip.slice(5).split(/[\s,]+/).map(parseFloat);
      if (bottom - top <= LEAST_PIXELS || right - left <= LEAST_PIXELS) return true;
    }
    return style.clipPath !== "none" && shapeIsEmpty(style.clipPath, element.getBoundingClientRect());
  };
  const isFilteredAway = (style) => {
    if (/url\(/.test(style.filter)) return true;
    const blur = /\bblur\(([\d.]+)px\)/.exec(style.filter);
    if (blur && parseFloat(blur[1]) >= MUCH_BLUR) return true;
    const mask = style.maskImage || style.webkitMaskImage || "none";
    if (mask !== "none") {
      // What an address or several images leave cannot be told.
      const composite = style.maskComposite || "add";
      if (/url\(/.test(mask) || /exclude|subtract/.test(composite)) return true;
      if (/luminance/.test(style.maskMode || "") && colours.coloursOf(mask).every((c) => Math.max(...c.slice(0, 3)) < 26)) return true;
      if (/^linear-gradient\(to right, rgba\(0, 0, 0, 0\) 100%/.test(mask)) return true;
      const sizes = numbers(style.maskSize || style.webkitMaskSize || "");
      if (sizes.some((size) => parseFloat(size) <= LEAST_PIXELS)) return true;
      const places = numbers(style.maskPosition || style.webkitMaskPosition || "");
      const isOnce = (style.maskRepeat || style.webkitMaskRepeat || "").includes("no-repeat");
      if (isOnce && places.some((place) => Math.abs(parseFloat(place)) >= 1000)) return true;
    }
    if (!/gradient\(/.test(mask)) return false;
    const stops = colours.coloursOf(mask);
    return stops.length > 0 && stops.every((colour) => colour[3] < colours.LEAST_ALPHA);
  };
  // Behind the eye of the viewer, or turned away from it for good: who can turn a card sees its back.
  const isTurnedAway = (style, around) => {
    const [axis, angle] = style.rotate.split(" ").length === 2 ? style.rotate.split(" ") : ["", style.rotate];
    const steps = [style.translate, style.rotate, style.scale, style.transform];
    if (steps.every((step) => !step || step === "none")) return false;
    const matrix = new DOMMatrix();
    if (around.perspective >= 0) matrix.m34 = -1 / Math.max(around.perspective, 1);
    if (/^-?\d/.test(angle) && !angle.includes(" ")) matrix.multiplySelf(new DOMMatrix(`rotate${axis}(${angle})`));
    if (/^matrix/.test(style.transform)) matrix.multiplySelf(new DOMMatrix(style.transform));
    return matrix.m44 <= 0 || (style.backfaceVisibility === "hidden" && matrix.m33 < 0 && !around.canTurn);
  };
  const isSheared = (style) => {
    if (!/^matrix\(/.test(style.transform)) return false;
    const { a, b, c, d } = new DOMMatrix(style.transform);
    const square = a * a + b * b + c * c + d * d, area = Math.abs(a * d - b * c);
    return area / Math.sqrt(square) < 0.05 && square > 1;
  };
  const opacityOf = (filter) => {
    let left = 1;
    for (const [, amount, sign] of filter.matchAll(/\bopacity\(([\d.]+)(%?)\)/g)) left *= parseFloat(amount) / (sign ? 100 : 1);
    return left;
  };
  // Lighter, darker or inverted, as a filter makes a colour; other filters leave black and white as they are.
  const filtered = (colour, filter) => {
    let parts = colour.slice(0, 3).map((part) => part / 255);
    for (const [, name, written, sign] of filter.matchAll(/(brightness|contrast|invert)\(([\d.]+)(%?)\)/g)) {
      const amount = parseFloat(written) / (sign ? 100 : 1);
      const change = {
        brightness: (part) => part * amount,
        contrast: (part) => (part - 0.5) * amount + 0.5,
        invert: (part) => part * (1 - 2 * amount) + amount,
      }[name];
      parts = parts.map((part) => Math.min(Math.max(change(part), 0), 1));
    }
    return [...parts.map((part) => 255 * part), colour[3]];
  };
  const isFilteredInto = (style, place, around) => {
    if (style.filter === "none" || !place.backdrop || !around.backdrop) return false;
    const fill = colours.parse(style.webkitTextFillColor || style.color);
    const isPainted = colours.parse(style.backgroundColor)[3] > 0 || style.backgroundImage !== "none";
    const behind = isPainted ? filtered(place.backdrop, style.filter) : around.backdrop;
    return colours.canBeToldApart(fill, place.backdrop) && !colours.canBeToldApart(filtered(fill, style.filter), behind);
  };
  const frameShows = (frame) => frame.opacity === undefined || parseFloat(frame.opacity) >= colours.LEAST_ALPHA;
  const fadesIn = (element, style) =>
    element.getAnimations().some((animation) => animation.playState !== "finished"
      && animation.effect.getKeyframes().some(frameShows))
    || style.transitionDuration.split(",").some((time) => parseFloat(time) > 0);

  const backdropWithin = (style, around) => {
    const shadow = /inset/.test(style.boxShadow) ? numbers(style.boxShadow.replace(/rgba?\([^)]*\)/g, "")) : [];
    const shades = shadow.length === 4 && parseFloat(shadow[3]) >= 20 ? colours.coloursOf(style.boxShadow) : [];
    if (/fill/.test(style.borderImageSlice)) shades.push(...colours.coloursOf(style.borderImageSource));
    if (shades.length && shades.every((shade) => shade[3] === 1 && String(shade) === String(shades[0]))) return shades[0];
    if (style.backgroundImage !== "none") {
      const stops = /url\(/.test(style.backgroundImage) ? [] : colours.coloursOf(style.backgroundImage);
      const isOne = stops.length > 0 && stops.every((stop) => String(stop) === String(stops[0]));
      return isOne && stops[0][3] === 1 ? stops[0] : null;
    }
    const own = colours.parse(style.backgroundColor);
    if (own[3] === 1) return own;
    // What a box that is placed freely lies on is not known.
    const behind = ["absolute", "fixed"].includes(style.position) && own[3] === 0 ? null : around;
    return behind && own[3] > 0 ? colours.over(own, behind) : behind;
  };
  const cut = (clip, box) => ({
    left: Math.max(clip.left, box.left), right: Math.min(clip.right, box.right),
    top: Math.max(clip.top, box.top), bottom: Math.min(clip.bottom, box.bottom),
  });
  const ENDLESS = { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };
  const pageBox = (box, view) => ({
    left: box.left + view.scrollX, right: box.right + view.scrollX,
    top: box.top + view.scrollY, bottom: box.bottom + view.scrollY,
  });
  const clipWithin = (element, style, around, view) => {
    if (style.position === "fixed") around = { ...around, clip: ENDLESS };
    const across = CLIPS.has(style.overflowX), down = CLIPS.has(style.overflowY);
    const contained = /paint|strict|content/.test(style.contain);
    if ((!across && !down && !contained) || ["BODY", "HTML"].includes(element.tagName)) return around.clip;
    if (MOVING.test(element.getAttribute("class") || "")) return around.clip;
    const box = pageBox(element.getBoundingClientRect(), view);
    // Where the beginning of a long text is to be seen, a reader can ask for the rest of it.
    const isOpenBelow = down && box.bottom - box.top >= 40 && element.clientWidth > 40
      && element.scrollHeight > element.clientHeight && startsInside(element, box, view);
    return cut(around.clip, {
      left: across || contained ? box.left : -Infinity, right: across || contained ? box.right : Infinity,
      top: down || contained ? box.top : -Infinity, bottom: (down || contained) && !isOpenBelow ? box.bottom : Infinity,
    });
  };
  const startsInside = (element, box, view) => {
    const walker = element.ownerDocument.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      if (!text.data.trim()) continue;
      const first = rectsOf(text)[0];
      return Boolean(first) && pageBox(first, view).bottom <= box.bottom;
    }
    return false;
  };
  const rectsOf = (text) => {
    const range = text.ownerDocument.createRange();
    range.selectNodeContents(text);
    return Array.from(range.getClientRects());
  };

  const isPainted = (box, place, view) => {
    if (box.bottom - box.top < LEAST_TEXT_HEIGHT || box.right - box.left < LEAST_PIXELS) return false;
    const inClip = Math.min(box.right, place.clip.right) - Math.max(box.left, place.clip.left) > LEAST_PIXELS
      && Math.min(box.bottom, place.clip.bottom) - Math.max(box.top, place.clip.top) > LEAST_PIXELS;
    if (!inClip) return false;
    if (place.isFixed) {
      const left = box.left - view.scrollX, top = box.top - view.scrollY;
      return left < view.innerWidth && top < view.innerHeight && left + box.right - box.left > 0 && top + box.bottom - box.top > 0;
    }
    if (place.isScrolled) return true;
    return box.right > 0 && box.bottom > 0 && box.left < 4 * view.innerWidth;
  };
  const isCovered = (element, box) => {
    const view = element.ownerDocument.defaultView;
    if (view !== window || hitTests >= MOST_HIT_TESTS) return false;
    hitTests += 1;
    const x = (box.left + box.right) / 2 - window.scrollX;
    let y = (box.top + box.bottom) / 2 - window.scrollY;
    if (y < 0 || y >= window.innerHeight) {
      window.scrollTo({ top: (box.top + box.bottom) / 2 - 100, behavior: "instant" });
      y = (box.top + box.bottom) / 2 - window.scrollY;
    }
    const stack = document.elementsFromPoint(x, y);
    const own = stack.indexOf(element);
    if (own < 1) return false;
    return stack.slice(0, own).some((above) => {
      if (element.contains(above) || above.closest("dialog")) return false;
      const style = getComputedStyle(above);
      if (colours.parse(style.backgroundColor)[3] < 0.95 || +style.opacity < 0.95) return false;
      if (above.contains(element)) return !["BODY", "HTML"].includes(above.tagName);
      for (let step = above; step; step = step.parentElement)
        if (["fixed", "sticky"].includes(getComputedStyle(step).position)) return false;
      const cover = above.getBoundingClientRect();
      return cover.width >= box.right - box.left && cover.height >= box.bottom - box.top;
    });
  };
  const judgeText = (text, style, place, view) => {
    if (style.visibility !== "visible" && !lenient) return false;
    if (parseFloat(style.fontSize) < LEAST_TEXT_HEIGHT) return false;
    if (parseFloat(style.letterSpacing) <= -parseFloat(style.fontSize)) return false;
    if ((style.webkitTextSecurity || "none") !== "none") return false;
    const fill = colours.parse(style.webkitTextFillColor || style.color);
    const stroke = parseFloat(style.webkitTextStrokeWidth) || 0;
    const isThick = stroke >= 0.2 * parseFloat(style.fontSize) && !style.paintOrder.startsWith("stroke");
    const line = colours.parse(style.webkitTextStrokeColor);
    if (isThick && place.backdrop && !colours.canBeToldApart(line, place.backdrop)) return false;
    const isCutOut = /\btext\b/.test(style.backgroundClip || style.webkitBackgroundClip)
      && (style.backgroundImage !== "none" || colours.parse(style.backgroundColor)[3] > 0);
    if (!isCutOut) {
      if (fill[3] < colours.LEAST_ALPHA) return false;
      if (place.backdrop && !colours.canBeToldApart(fill, place.backdrop)) return false;
    }
    const boxes = rectsOf(text).map((box) => pageBox(box, view));
    const box = boxes.find((one) => isPainted(one, place, view));
    if (!box) return false;
    return isCovered(text.parentElement || text.getRootNode().host, box) ? "covered" : true;
  };
  const judge = (element, around, depth) => {
    if (depth > 600) return;
    const view = element.ownerDocument.defaultView;
    const style = view.getComputedStyle(element);
    if (style.display === "none" || style.contentVisibility === "hidden") return;
    const own = fadesIn(element, style) || lenient ? 1 : parseFloat(style.opacity);
    const opacity = around.opacity * own * opacityOf(style.filter);
    if (opacity < colours.LEAST_ALPHA || isFilteredAway(style) || isTurnedAway(style, around)) return;
    if (isClippedAway(element, style) || isSheared(style) || (style.offsetPath || "none") !== "none") return;
    if (["TD", "TH"].includes(element.tagName) && element.getBoundingClientRect().width < LEAST_PIXELS) return;
    if (style.lineHeight === "0px" && style.overflowY === "auto" && element.clientHeight < LEAST_PIXELS) return;
    const place = {
      opacity,
      perspective: parseFloat(style.perspective),
      canTurn: style.transformStyle === "preserve-3d",
      backdrop: backdropWithin(style, around.backdrop),
      clip: clipWithin(element, style, around, view),
      isFixed: around.isFixed || style.position === "fixed",
      isScrolled: around.isScrolled || SCROLLS.has(style.overflowX) || MOVING.test(element.getAttribute("class") || ""),
    };
    if (isFilteredInto(style, place, around)) return;
    verdicts.set(element, true);
    for (const child of childrenOf(element)) {
      if (child.nodeType === Node.TEXT_NODE) {
        if (child.data.trim()) verdicts.set(child, judgeText(child, style, place, view));
      } else if (child.nodeType === Node.ELEMENT_NODE) judge(child, place, depth + 1);
    }
  };
  const forgiveCovers = () => {
    const covered = [];
    let all = 0, hidden = 0;
    for (const [node, verdict] of verdicts) {
      if (node.nodeType !== Node.TEXT_NODE || verdict === false) continue;
      all += node.data.length;
      if (verdict === "covered") {
        hidden += node.data.length;
        covered.push(node);
      }
    }
    for (const node of covered) verdicts.set(node, hidden > COVERED_SHARE * all);
  };
  const judgeDocument = (body) => {
    const view = body.ownerDocument.defaultView;
    const root = view.getComputedStyle(body.ownerDocument.documentElement);
    const own = backdropWithin(root, [255, 255, 255, 1]);
    judge(body, { opacity: 1, backdrop: own, clip: ENDLESS, isFixed: false, isScrolled: false }, 0);
    forgiveCovers();
  };
  return {
    judgeDocument,
    childrenOf,
    // Of an element whether its box is shown, of a text whether it can be read; white space is kept.
    isShown: (node) => verdicts.get(node) === true || (node.nodeType === Node.TEXT_NODE && !node.data.trim()),
  };
}
