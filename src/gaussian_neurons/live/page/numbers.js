// Numbers as people read them: 1.2 M, 340 k, −0.83, and round ticks for axes. No DOM.

const SPACE = "\u00a0"; // a number and its unit stay on one line
const UNITS = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** Three digits at most and a unit: 1.2 M, 340 k, −0.83. */
export function short(value) {
  if (!Number.isFinite(value)) return "–";
  for (const [size, unit] of UNITS) {
    if (Math.abs(value) >= 0.9995 * size) return plain(value / size, 3) + SPACE + unit;
  }
  return plain(value, 3);
}

/** A number with so many significant digits, no zeros at its end, and a real minus sign. */
export function plain(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const text =
    size !== 0 && (size < 1e-4 || size >= 1e7)
      ? value.toExponential(Math.max(digits - 2, 0)).replace(/\.?0+e/, "e").replace("e+", "e")
      : String(Number(value.toPrecision(digits)));
  return text.replace(/-/g, "−");
}

/** 1,000,000 */
export function whole(value) {
  return Math.round(value).toLocaleString("en-US");
}

/** The step of 1, 2 or 5 times a power of ten that cuts a span into about so many parts. */
export function niceStep(span, parts) {
  if (!(span > 0)) return 1;
  const rough = span / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = rough / power;
  return power * (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10);
}

/** A tick without the noise of binary fractions: 0.30000000000000004 is 0.3. */
export function tickText(value, step) {
  if (Math.abs(value) < step / 1e6) return "0";
  if (Math.abs(value) >= 1e5) return short(value);
  const decimals = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
  return decimals > 6 ? plain(value, 3) : value.toFixed(decimals).replace("-", "−");
}
