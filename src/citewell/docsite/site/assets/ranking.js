// Search in the browser, for sites without a server: the words, weights and order of
// citewell/docsite/search.py over the same postings. A test compares the two.
"use strict";

window.docsRanking = (index) => {
  const SATURATION = 1.6;
  const LENGTH_SHARE = 0.6;
  const GUESS_SHARE = 0.5;
  const TITLE_BONUS = 3;
  const HEADING_BONUS = 1;
  const TITLE_WORDS_BONUS = 1.5;
  const TITLES_COMPARED = 50;
  const SHORTEST_BEGINNING = 4;
  const MOST_NAMING_WORDS = 2;
  const MAX_GUESSES = 8;
  const MAX_WORD = 64;
  // The offset of numbers in postings, see docsite/postings.py.
  const FIRST = 93;

  const CJK =
    "\u3041-\u3096\u30a1-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff" +
    "\uac00-\ud7af\u{20000}-\u{3134f}々〆";
  const A = "[\\p{L}\\p{N}]";
  const TOKEN = new RegExp(
    `[${CJK}]+|(?:__)?${A}+(?:(?:\\._*|_+)${A}+)*(?:__)?(?:'${A}+)?`,
    "gu",
  );
  const HAS_CJK = new RegExp(`[${CJK}]`, "u");
  const CJK_RUNS = new RegExp(`([${CJK}]+)`, "u");
  const HUMPS = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

  const postings = new Map(Object.entries(index.postings));
  const stopWords = new Set(index.stop_words);
  const spellings = index.spellings ? index.spellings.split("\n") : [];
  const lengths = index.pages.map((page) => page.length);
  const average = Math.max(lengths.reduce((a, b) => a + b, 0) / (lengths.length || 1), 1);
  const norms = lengths.map(
    (length) => SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / average),
  );

  function latinWords(token) {
    const plain = token.split("'")[0];
    const humps = plain.split(HUMPS);
    const parts = humps.length > 1 ? humps.filter((hump) => hump.length > 1) : [];
    return [plain, ...parts].map((part) => window.docsStem(part.toLowerCase().slice(0, MAX_WORD)));
  }

  const splitBefore = new Map();
  function splitToken(token) {
    if (!splitBefore.has(token)) splitBefore.set(token, splitNewToken(token));
    return splitBefore.get(token);
  }

  function splitNewToken(token) {
    const letters = [...token];
    if (HAS_CJK.test(letters[0]) && letters.every((letter) => HAS_CJK.test(letter))) {
      if (letters.length === 1) return [token];
      return letters.slice(1).map((letter, at) => letters[at] + letter);
    }
    if (HAS_CJK.test(token)) {
      const pieces = token.split(CJK_RUNS).map((piece) => piece.replace(/^[._]+|[._]+$/g, ""));
      return pieces.filter(Boolean).flatMap(splitToken);
    }
    const joint = token.includes(".") ? "." : "_";
    if (token.includes(joint)) {
      return [token.toLowerCase().slice(0, MAX_WORD), ...token.split(joint).filter(Boolean).flatMap(splitToken)];
    }
    return latinWords(token);
  }

  const wordsOf = (text) => (text.normalize("NFKC").match(TOKEN) ?? []).flatMap(splitToken);

  function pairsOf(word) {
    const encoded = postings.get(word) ?? "";
    const codes = [...encoded].map((letter) => letter.codePointAt(0) - FIRST);
    return Array.from({ length: codes.length / 2 }, (_, i) => [codes[2 * i], codes[2 * i + 1]]);
  }

  function beginningWith(prefix) {
    const longer = spellings.filter((form) => form !== prefix && form.startsWith(prefix));
    return longer.sort((a, b) => a.length - b.length).slice(0, MAX_GUESSES);
  }

  // Words at most `most` slips away; a letter left out, added, changed or swapped is one.
  function isWithin(word, other, most) {
    let before = [];
    let row = Array.from({ length: other.length + 1 }, (_, j) => j);
    for (let i = 1; i <= word.length; i += 1) {
      const above = row;
      row = [i];
      for (let j = 1; j <= other.length; j += 1) {
        const changed = above[j - 1] + (word[i - 1] === other[j - 1] ? 0 : 1);
        let cost = Math.min(above[j] + 1, row[j - 1] + 1, changed);
        if (i > 1 && j > 1 && word[i - 1] === other[j - 2] && word[i - 2] === other[j - 1]) {
          cost = Math.min(cost, before[j - 2] + 1);
        }
        row.push(cost);
      }
      if (Math.min(...row) > most) return false;
      before = above;
    }
    return row[other.length] <= most;
  }

  function near(word) {
    if (word.length < 4 || !/^\p{L}+$/u.test(word)) return [];
    const distance = (form) => Math.abs(form.length - word.length);
    const close = spellings.filter((form) => distance(form) <= 2);
    let found = close.filter((form) => form !== word && isWithin(word, form, 1));
    if (!found.length && word.length >= 7) {
      found = close.filter((form) => form[0] === word[0] && isWithin(word, form, 2));
    }
    // The sort keeps the order of the alphabet among words of one length.
    return found.sort((a, b) => distance(a) - distance(b)).slice(0, MAX_GUESSES);
  }

  function termsOf(query) {
    const found = [...new Set(wordsOf(query))].slice(0, 40);
    const telling = found.filter((word) => !stopWords.has(word));
    const meant = telling.length ? telling : found;
    const terms = meant.filter((word) => postings.has(word)).map((word) => ({ words: [word], share: 1 }));
    const written = (query.match(/[\p{L}\p{N}]+/gu) ?? []).map((form) => form.toLowerCase());
    written.slice(0, 40).forEach((form, at) => {
      const own = wordsOf(form).filter((word) => !stopWords.has(word));
      const isKnown = !own.length || own.some((word) => postings.has(word));
      if (isKnown && at < written.length - 1) return;
      let guesses = beginningWith(form);
      const isSlip = !isKnown && !guesses.length;
      if (isSlip) guesses = near(form);
      if (guesses.length) {
        const meant = isSlip ? [guesses[0]] : [];
        terms.push({ words: [...new Set(guesses.flatMap(wordsOf))], share: GUESS_SHARE, meant });
      }
    });
    return terms;
  }

  function scoresOf(term) {
    const best = new Map();
    for (const word of term.words) {
      const found = pairsOf(word);
      const every = index.pages.length;
      const rarity = Math.log(1 + (every - found.length + 0.5) / (found.length + 0.5)) * term.share;
      for (const [page, weight] of found) {
        const score = (rarity * weight * (SATURATION + 1)) / (weight + norms[page]);
        if (score > (best.get(page) ?? 0)) best.set(page, score);
      }
    }
    return best;
  }

  function titleWords(text) {
    const written = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const forms = written.map((form) => ({ form, stems: wordsOf(form) }));
    return forms.filter(({ stems }) => stems.some((stem) => !stopWords.has(stem)));
  }

  const isWordOf = (asked, other) =>
    (asked.form.length >= SHORTEST_BEGINNING && other.form.startsWith(asked.form)) ||
    asked.stems.some((stem) => other.stems.includes(stem));

  // A page whose title is all words of the query stands above those that only hold them.
  function addTitleBonus(query, scores, best) {
    const asked = titleWords(query);
    if (asked.length > MOST_NAMING_WORDS) return;
    const first = [...scores.keys()].sort((a, b) => scores.get(b) - scores.get(a) || a - b);
    for (const page of first.slice(0, TITLES_COMPARED)) {
      const title = titleWords(index.pages[page].title);
      const shared = asked.filter((word) => title.some((other) => isWordOf(word, other))).length;
      const isNamed = title.every((word) => asked.some((other) => isWordOf(other, word)));
      if (!shared || !isNamed) continue;
      const share = Math.sqrt(shared / asked.length);
      scores.set(page, scores.get(page) + TITLE_WORDS_BONUS * share * best);
    }
  }

  function rank(query, terms) {
    const scores = new Map();
    const held = new Map();
    for (const term of terms) {
      for (const [page, score] of scoresOf(term)) {
        scores.set(page, (scores.get(page) ?? 0) + score);
        held.set(page, (held.get(page) ?? 0) + term.share);
      }
    }
    const asked = terms.reduce((sum, term) => sum + term.share, 0) || 1;
    for (const [page, score] of scores) scores.set(page, (score * held.get(page)) / asked);
    const best = scores.size ? Math.max(...scores.values()) : 1;
    addTitleBonus(query, scores, best);
    for (const [page, weight] of pairsOf(`=${wordsOf(query.toLowerCase()).join(" ")}`)) {
      const bonus = (weight > 1 ? TITLE_BONUS : HEADING_BONUS) * best;
      scores.set(page, (scores.get(page) ?? 0) + bonus);
    }
    const pathLength = (page) => index.pages[page].path.length;
    return [...scores.keys()].sort(
      (a, b) => scores.get(b) - scores.get(a) || pathLength(a) - pathLength(b) || a - b,
    );
  }

  function search(query, limit) {
    const terms = termsOf(query);
    const places = window.docsPlaces(query, terms, index.snippet_length);
    const results = rank(query, terms).slice(0, limit).map((at) => {
      const page = index.pages[at];
      const place = places.find(page);
      return {
        path: page.path,
        title: page.title,
        // The first heading is the page itself: its address needs no anchor.
        url: page.url + (place.level > 1 ? `#${encodeURIComponent(place.anchor)}` : ""),
        section: place.heading ?? "",
        snippet: place.snippet,
      };
    });
    return { results, marks: [...places.marks, ...terms.flatMap(({ meant }) => meant ?? [])] };
  }

  return { search };
};
