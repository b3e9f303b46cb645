// Returns functions about computed colours, which are "rgb(…)", "rgba(…)" or "color(srgb …)".
() => {
  // Below this ratio no reader sees text; very light grey on white has 1.16.
  const LEAST_CONTRAST = 1.15;
  const LEAST_ALPHA = 0.1;
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();

  // Red, green and blue from 0 to 255, alpha from 0 to 1.
  const parse = (value) => {
    if (known.has(value)) return known.get(value);
    let colour;
    const plain = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(value);
    if (plain) {
      colour = [+plain[1], +plain[2], +plain[3], plain[4] === undefined ? 1 : +plain[4]];
    } else {
      // The browser itself knows best what oklch() and the like come to.
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = "#000";
      canvas.fillStyle = value;
      canvas.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
      colour = [red, green, blue, alpha / 255];
    }
    known.set(value, colour);
    return colour;
  };
  const over = (colour, backdrop) =>
    [0, 1, 2].map((i) => colour[i] * colour[3] + backdrop[i] * (1 - colour[3])).concat(1);
  const luminance = (colour) => {
    const [red, green, blue] = colour.slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const canBeToldApart = (text, backdrop) => {
    const seen = over(text, backdrop);
    const [low, high] = [luminance(seen), luminance(backdrop)].sort((a, b) => a - b);
    if ((high + 0.05) / (low + 0.05) >= LEAST_CONTRAST) return true;
    return Math.max(...[0, 1, 2].map((i) => Math.abs(seen[i] - backdrop[i]))) > 51;
  };
  // The colours that stand in a gradient.
  const coloursOf = (image) => (image.match(/rgba?\([^()]*\)|color\([^()]*\)/g) || []).map(parse);
  return { LEAST_ALPHA, parse, over, canBeToldApart, coloursOf };
}
