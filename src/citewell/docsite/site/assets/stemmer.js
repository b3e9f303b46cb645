// English words without their endings: the Snowball "english" algorithm, as the index uses it.
"use strict";

window.docsStem = (() => {
  const IRREGULAR = new Map(Object.entries({
    skis: "ski", skies: "sky", idly: "idl", gently: "gentl", ugly: "ugli", early: "earli",
    only: "onli", singly: "singl", sky: "sky", news: "news", howe: "howe", atlas: "atlas",
    cosmos: "cosmos", bias: "bias", andes: "andes", dying: "die", lying: "lie", tying: "tie",
  }));
  const WHOLE = /^(?:inning|outing|canning|herring|earring|evening|proceed|exceed|succeed)s?$/;
  const LONG_START = /^(?:gener|commun|arsen|past|univers|later|emerg|organ|inter)/;
  const VOWEL = /[aeiouy]/;
  const SHORT_END = /(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy]|past)$/;

  const STEP_2 = [
    ["ization", "ize"], ["ational", "ate"], ["fulness", "ful"], ["ousness", "ous"],
    ["iveness", "ive"], ["tional", "tion"], ["biliti", "ble"], ["lessli", "less"],
    ["entli", "ent"], ["ation", "ate"], ["alism", "al"], ["aliti", "al"], ["ousli", "ous"],
    ["iviti", "ive"], ["fulli", "ful"], ["ogist", "og"], ["enci", "ence"], ["anci", "ance"],
    ["abli", "able"], ["izer", "ize"], ["ator", "ate"], ["alli", "al"], ["bli", "ble"],
    ["ogi", "og", /l$/], ["li", "", /[cdeghkmnrt]$/],
  ];
  const STEP_3 = [
    ["ational", "ate"], ["tional", "tion"], ["alize", "al"], ["icate", "ic"], ["iciti", "ic"],
    ["ical", "ic"], ["ness", ""], ["ative", "", null, 2], ["ful", ""],
  ];
  const STEP_4 = [
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "al", "er", "ic",
  ].map((ending) => [ending, ""]).concat([["ion", "", /[st]$/]]);

  // Where the part begins that follows the first consonant after a vowel.
  function region(word, from) {
    const found = /[aeiouy][^aeiouy]/.exec(word.slice(from));
    return found ? from + found.index + 2 : word.length;
  }

  function regions(word) {
    const start = LONG_START.exec(word);
    const first = start ? start[0].length : region(word, 0);
    return [0, first, region(word, first)];
  }

  // The longest ending alone is tried, as the algorithm wants it.
  function replaceEnding(word, rules, starts, least) {
    for (const [ending, other, before, where] of rules) {
      if (!word.endsWith(ending)) continue;
      const rest = word.slice(0, word.length - ending.length);
      const isAllowed = rest.length >= starts[where ?? least] && (!before || before.test(rest));
      return isAllowed ? rest + other : word;
    }
    return word;
  }

  function withoutPlural(word) {
    if (word.endsWith("sses")) return word.slice(0, -2);
    if (/ie[ds]$/.test(word)) return word.slice(0, word.length > 4 ? -2 : -1);
    if (/(?:us|ss)$/.test(word) || !word.endsWith("s")) return word;
    return VOWEL.test(word.slice(0, -2)) ? word.slice(0, -1) : word;
  }

  function withoutPast(word, starts) {
    const eed = /eed(?:ly)?$/.exec(word);
    if (eed) return eed.index >= starts[1] ? `${word.slice(0, eed.index)}ee` : word;
    const found = /(?:ed|ing)(?:ly)?$/.exec(word);
    if (!found || !VOWEL.test(word.slice(0, found.index))) return word;
    const rest = word.slice(0, found.index);
    if (found[0].startsWith("ing") && /^[^aeiouy]y$/.test(rest)) return `${rest[0]}ie`;
    if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
    if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(rest)) {
      return /^[aeo].{2}$/.test(rest) ? rest : rest.slice(0, -1);
    }
    const isShort = SHORT_END.test(rest) && rest.length <= starts[1];
    return isShort ? `${rest}e` : rest;
  }

  function withoutLastLetter(word, starts) {
    const rest = word.slice(0, -1);
    if (word.endsWith("e")) {
      const isFree = rest.length >= starts[2] || (rest.length >= starts[1] && !SHORT_END.test(rest));
      return isFree ? rest : word;
    }
    return word.endsWith("ll") && rest.length >= starts[2] ? rest : word;
  }

  return (form) => {
    if (form.length <= 2) return form;
    if (IRREGULAR.has(form)) return IRREGULAR.get(form);
    // A y that begins a word or follows a vowel is a consonant.
    let word = form.replace(/^'/, "").replace(/^y|(?<=[aeiouy])y/g, "Y");
    const starts = regions(word);
    word = withoutPlural(word.replace(/'s?'?$/, ""));
    if (WHOLE.test(word)) return word.toLowerCase();
    word = withoutPast(word, starts).replace(/(?<=.[^aeiouy])[yY]$/, "i");
    word = replaceEnding(word, STEP_2, starts, 1);
    word = replaceEnding(word, STEP_3, starts, 1);
    word = replaceEnding(word, STEP_4, starts, 2);
    return withoutLastLetter(word, starts).toLowerCase();
  };
})();
