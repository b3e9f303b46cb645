// The place of a page that answers a query best, and a few words from around it: what
// citewell/docsite/snippet.py does, over the same bytes. A test compares the two.
"use strict";

window.docsPlaces = (query, terms, length) => {
  const MAX_MATCHES = 80;
  const MIN_MATCHES_OF_A_WORD = 3;
  const NEAR_BYTES = 60000;
  const MAX_TAG = 400;
  const SHORTEST_MARK = 4;

  const UNSEEN_MARKS = new RegExp(
    "^[ \\t]*(?:>[ \\t]*)*(?:#{1,6}[ \\t]+|[-*+][ \\t]+(?:\\[[ xX]\\][ \\t])?" +
      "|(?:!!!|\\?\\?\\?\\+?)[ \\t]+[a-z-]+|\\[[^[\\]\\n]+\\]:[ \\t][^\\n]*$" +
      "|(?:`{3,}|~{3,}|:{3,}|/{3,}|={3,}|-{3,})[^\\n]*$|\\|?[ \\t:|-]+\\|[ \\t]*$)" +
      "|^[ \\t]*>[> \\t]*|\\[![A-Za-z]+\\][+-]?|\\[\\^[^[\\]\\s]+\\]:?" +
      "|<!--[^]*?-->|\\{[ \\t]*[#.*!%:][^{}\\n]*\\}" +
      "|<(?:style|script)\\b(?:(?!</(?:style|script))[^])*|<[A-Za-z/!][^<>]*$(?![^])",
    "gm",
  );
  const CELL_BORDER = /(`[^`\n]{1,200}`)|\|/g;
  const END_OF_MARKUP =
    /^(?:([^[\]\n]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?\)|[^\s()[\]]*?\/[^\s()[\]]*\)|\[[ xX]\][ \t])/;
  const BEGINNING_OF_MARKUP =
    /(?:!?\[((?:[^[\]\n]|\[[^[\]\n]*\])*)(?:\]\([^()\s]*)?|\{[ \t]*[#.*!%:][^{}\n]*)$/;
  const ENTITY = /&(nbsp|amp|lt|gt|quot|#39);/g;
  const MEANT = { nbsp: " ", amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  const CUT_WORD = /[ ][!-~]{1,30}…$/;
  const DIAGRAM = "```mermaid";
  const WHOLE_DIAGRAM = /```mermaid(?:(?!\n```)[^])*(?:\n```)?/g;
  const ATTRIBUTES = /[ \t]*\{:?[ \t]*[.#][^{}]*\}(?=\n?$)/;
  const LINKED = /!?\[((?:[^[\]]|\[[^[\]]*\])*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^[\]]*\])/g;
  const TAG = /<\/?[A-Za-z][^<>]*>/g;
  const W = "[\\p{L}\\p{N}_]";
  const EMPHASIS = new RegExp(`\\*|\`|~~|__|_(?:(?<!${W}_)|(?!${W}))`, "gu");
  const ESCAPED = /\\([!-/:-@[-`{-~])/g;
  const UNSEEN =
    /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

  // Bytes as a string of as many letters, which can be searched as the server searches bytes.
  function bytesOf(text) {
    const pieces = [];
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length; at += 8192) {
      pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
    }
    return pieces.join("");
  }

  const textOf = (bytes) =>
    new TextDecoder().decode(Uint8Array.from(bytes, (letter) => letter.charCodeAt(0)));

  // Letters beyond ASCII stay as they are.
  const lowered = (bytes) => bytes.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

  const firstLetters = (text, count) => [...text].slice(0, count).join("");

  function oneLine(text, limit) {
    const plain = text.replace(UNSEEN, "").trim().replace(/\s+/g, " ");
    if ([...plain].length <= limit) return plain;
    return firstLetters(plain, limit - 1).trimEnd() + "…";
  }

  function plainText(text, limit) {
    // Twice, for a picture that is a link.
    const unlinked = text.replace(ATTRIBUTES, "").replace(LINKED, "$1").replace(LINKED, "$1");
    return oneLine(unlinked.replace(TAG, "").replace(EMPHASIS, "").replace(ESCAPED, "$1"), limit);
  }

  // The headings of a page, as docsite/outline.py keeps them.
  function outlineOf(encoded, end) {
    const [places, ...rows] = encoded.split("\n");
    const [bodyStart, ...starts] = places.split(" ").map(Number);
    return {
      bodyStart,
      sectionAt: (place) => starts.findLastIndex((start) => start <= place),
      sectionHeaded(heading) {
        return rows.findIndex((row) => row.toLowerCase().endsWith(`\t${heading.toLowerCase()}`));
      },
      span: (section) => [section >= 0 ? starts[section] : 0, starts[section + 1] ?? end],
      entry(section) {
        const [level, anchor, heading] = rows[section].split("\t");
        return { level: Number(level), anchor, heading };
      },
    };
  }

  const beginningOf = (word) => (word.length > 3 && word.endsWith("i") ? word.slice(0, -1) : word);

  function spellingsOf(beginning) {
    const [first, ...rest] = beginning;
    const capital = first.toUpperCase() + rest.join("").toLowerCase();
    const written = [beginning, capital, beginning.toUpperCase()];
    return [...new Set(written.map((spelling) => lowered(bytesOf(spelling))))];
  }

  const beginnings = new Map();
  terms.forEach((term, at) => term.words.forEach((word) => beginnings.set(beginningOf(word), at)));
  const most = Math.max(
    Math.floor(MAX_MATCHES / Math.max(beginnings.size, 1)),
    MIN_MATCHES_OF_A_WORD,
  );
  const needles = [...beginnings].flatMap(([beginning, term]) =>
    spellingsOf(beginning).map((written) => {
        return { written, term, beginsWord: /^[\x00-\x7f]*$/.test(beginning) };
    }),
  );
  const asked = oneLine(query, 200);

  function matchesIn(data, start, end) {
    const matches = [];
    const text = lowered(data.slice(0, end));
    for (const { written, term, beginsWord } of needles) {
      let left = most;
      let found = text.indexOf(written, start);
      while (found >= 0 && left) {
        if (!beginsWord || found === 0 || !/[0-9a-z]/.test(text[found - 1])) {
          matches.push([found, term]);
          left -= 1;
        }
        found = text.indexOf(written, found + 1);
      }
    }
    return matches.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  }

  // The first match that has most terms after it, near and in its section; one in a heading
  // counts half a term more.
  function bestOf(data, outline, matches) {
    let best = 0;
    let highest = 0;
    matches.forEach(([position], at) => {
      const section = outline.sectionAt(position);
      const [start, end] = outline.span(section);
      const after = Math.min(position + length + 1, end);
      const near = matches.slice(at).filter((match) => match[0] < after);
      const isHeading = section >= 0 && !data.slice(start, position).includes("\n");
      const score = new Set(near.map((match) => match[1])).size + (isHeading ? 0.5 : 0);
      if (score > highest) [best, highest] = [position, score];
    });
    return best;
  }

  // Where the text under a heading begins; 0 when there is none.
  function endOfHeading(data, outline, section) {
    const [start, end] = outline.span(section);
    const text = data.slice(start, end);
    let at = text.indexOf("\n") + 1;
    if (at && !/^ {0,3}#/.test(text)) at = text.indexOf("\n", at) + 1;
    const below = at ? text.slice(at).search(/[^ \t\n\r\v\f]/) : -1;
    return below < 0 ? 0 : start + at + below;
  }

  // Where text goes on after the diagram, style, script or tag that `position` lies in.
  function afterMarkup(data, position, end) {
    const text = lowered(data.slice(0, end));
    const drawn = text.lastIndexOf(DIAGRAM, position);
    const drawnEnd = drawn < 0 ? -1 : text.indexOf("\n```", drawn);
    if (drawn >= 0 && (drawnEnd < 0 || drawnEnd + 4 > position)) {
      return (drawnEnd < 0 ? 0 : text.indexOf("\n", drawnEnd + 1) + 1) || end;
    }
    for (const name of ["style", "script"]) {
      const opened = text.lastIndexOf(`<${name}`, position);
      const closing = opened < 0 ? -1 : text.indexOf(`</${name}`, opened);
      if (opened >= 0 && (closing < 0 || closing >= position)) {
        return (closing < 0 ? 0 : text.indexOf(">", closing) + 1) || end;
      }
    }
    const opened = text.lastIndexOf("<", position);
    const isTag = opened >= 0 && position - opened <= MAX_TAG && /[a-z]/.test(text[opened + 1] ?? "");
    const closed = isTag ? text.indexOf(">", opened) : -1;
    return closed >= position && closed - opened < MAX_TAG ? closed + 1 : position;
  }

  function cut(data, found, end) {
    const position = afterMarkup(data, found, end);
    const third = Math.floor(length / 3);
    let begin = data.lastIndexOf("\n", position - 1) + 1;
    if (position === 0) begin = 0;
    if (position - begin > third) {
      const space = data.slice(position - third, position).indexOf(" ");
      begin = space < 0 ? position : position - third + space + 1;
    }
    const isInside = begin > 0 && data[begin - 1] !== "\n";
    let stop = Math.min(begin + 5 * length, end);
    // Not within a letter.
    while ((data.charCodeAt(stop) & 0xc0) === 0x80) stop -= 1;
    const raw = firstLetters(textOf(data.slice(begin, stop)), 2 * length);
    const plain = raw
      .replace(WHOLE_DIAGRAM, " ")
      .replace(UNSEEN_MARKS, " ")
      .replace(CELL_BORDER, (_, code) => code ?? " ")
      .replace(BEGINNING_OF_MARKUP, "$1");
    const whole = isInside ? plain.replace(END_OF_MARKUP, (_, words) => words ?? "") : plain;
    const words = plainText(whole, 2 * length).replace(ENTITY, (_, name) => MEANT[name]);
    const shown = oneLine(words, length - (isInside ? 1 : 0)).replace(CUT_WORD, "…");
    return (isInside ? "…" : "") + shown;
  }

  function show(data, outline, position) {
    const section = outline.sectionAt(position);
    if (section < 0) return { snippet: cut(data, position, data.length) };
    const start = Math.max(position, endOfHeading(data, outline, section));
    const [, end] = outline.span(section);
    return { ...outline.entry(section), snippet: cut(data, start, end) };
  }

  // The section of a page, given as its text and outline, that holds most of the terms.
  function find(page) {
    // Kept: while one types, mostly the same pages are found again.
    const data = (page.bytes ??= bytesOf(page.text));
    const outline = outlineOf(page.outline, data.length);
    const headed = outline.sectionHeaded(asked);
    if (headed >= 0) return show(data, outline, outline.span(headed)[0]);
    let matches = matchesIn(data, outline.bodyStart, NEAR_BYTES);
    if (!matches.length) matches = matchesIn(data, outline.bodyStart, data.length);
    if (!matches.length) return { snippet: cut(data, outline.bodyStart, data.length) };
    return show(data, outline, bestOf(data, outline, matches));
  }

  const marks = [...beginnings.keys()].filter((word) => [...word].length >= SHORTEST_MARK);
  return { find, marks };
};
