// Numbers as text: 1.2 M, 340 k, −0.83, and ticks for axes. No DOM.

const SPACE = "\u00a0"; // keeps a number and its unit on one line
const NONE = "–";
const UNITS = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];
const isNumber = (value) => value !== null && value !== undefined && Number.isFinite(value);
const withMinus = (text) => text.replace(/-/g, "−");

/** At most three digits and a unit: 1.2 M, 340 k, −0.83. For axes and labels. */
export function short(value) {
  if (!isNumber(value)) return NONE;
  const unit = UNITS.find(([size]) => Math.abs(value) >= 0.9995 * size);
  return unit ? plain(value / unit[0], 3) + SPACE + unit[1] : plain(value, 3);
}

/** A changing count: 9,874, then 12.0 k. Always three digits and a unit, so that its width stays constant. */
export function counted(value) {
  if (!isNumber(value)) return NONE;
  if (Math.abs(value) < 9_999.5) return withMinus(whole(value));
  const [size, unit] = UNITS.find(([least]) => Math.abs(value) >= 0.9995 * least);
  return withMinus((value / size).toPrecision(3)) + SPACE + unit;
}

/** A number with so many significant digits, no trailing zeros, and a minus sign. */
export function plain(value, digits = 4) {
  if (!isNumber(value)) return NONE;
  const size = Math.abs(value);
  const text =
    size !== 0 && (size < 1e-4 || size >= 1e7)
      ? powered(value, digits - 2).replace("e+", "e")
      : String(Number(value.toPrecision(digits)));
  return withMinus(text);
}

/** A changing number. Trailing zeros are kept, so that its width stays constant: 0.500, 12.0, 9.3e−4. */
export function measured(value, digits = 3) {
  if (!isNumber(value)) return NONE;
  const size = Math.abs(value);
  if (size !== 0 && size < 10 ** -digits) return powered(value, digits - 2);
  if (size >= 1e4) return plain(value, digits);
  const before = String(Math.floor(Number(size.toPrecision(digits)))).length;
  return withMinus(value.toFixed(size < 1 ? digits : Math.max(0, digits - before)));
}

/** A fraction in four characters: 0.93, 0.05, 9e−4. */
export function brief(value) {
  if (!isNumber(value)) return NONE;
  return value !== 0 && Math.abs(value) < 0.005 ? powered(value, 0) : withMinus(value.toFixed(2));
}

/** Very small numbers: 9.3e−4. */
function powered(value, decimals) {
  return withMinus(value.toExponential(Math.max(0, decimals)).replace(/\.?0+e/, "e"));
}

/** The noun for a count: 1 sample, 2 samples. */
export const samples = (count) => (count === 1 ? "sample" : "samples");

/** A fraction in per cent. */
export const percent = (part) => (isNumber(part) ? `${(part * 100).toFixed(part < 0.0995 ? 1 : 0)} %` : NONE);

/** The text of a number field, with six significant digits. */
export function editable(value) {
  const number = Number(Number(value).toPrecision(6));
  const text = String(number);
  return text.length > 8 ? number.toExponential().replace("e+", "e") : text;
}

/** 1,000,000 */
export function whole(value) {
  return grouped(Math.round(value), 0);
}

/** 5,000.30: with so many decimals and thousands separators. */
export function grouped(value, decimals) {
  const digits = Math.min(decimals, 20);
  return withMinus(value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }));
}

/** A coordinate, to a thousandth of the visible span: far from zero, positions differ only in their last digits. */
export function coordinate(value, span) {
  if (!isNumber(value)) return NONE;
  const decimals = Math.max(0, 3 - Math.ceil(Math.log10(span)));
  return decimals > 8 || Math.abs(value) >= 1e13 ? plain(value, 8) : grouped(value, decimals);
}

const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

/** The number of a neuron as a subscript: ₁₂. */
export const subscript = (number) => String(number).replace(/\d/g, (digit) => SUBSCRIPTS[digit]);

/** A step of 1, 2 or 5 times a power of ten that divides a span into about so many parts. */
export function niceStep(span, parts) {
  if (!(span > 0)) return 1;
  const rough = span / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = rough / power;
  return power * (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10);
}

/** The text of a tick without rounding errors: 0.3, not 0.30000000000000004. */
export function tickText(value, step) {
  if (Math.abs(value) < step / 1e6) return "0";
  if (Math.abs(value) >= 1e5) return short(value);
  const decimals = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
  return decimals > 6 ? plain(value, 3) : withMinus(value.toFixed(decimals));
}
