// Numbers as people read them.

const STEPS = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** 3141592 -> "3.14 M"; whole numbers below ten thousand are written out. */
export function short(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Math.abs(value) < 10_000) return Math.round(value).toLocaleString("en");
  const [step, letter] = STEPS.find(([least]) => Math.abs(value) >= least);
  return `${(value / step).toPrecision(3)} ${letter}`;
}

/** A measured number with so many figures, without a tail of zeros. */
export function figures(value, count = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)) {
    return value.toExponential(count - 1).replace("e+", "e").replace("-", "−");
  }
  return String(Number(value.toPrecision(count))).replace("-", "−");
}

/** A fraction as per cent. */
export const percent = (part) => (Number.isFinite(part) ? `${(part * 100).toFixed(part < 0.0995 ? 1 : 0)} %` : "–");

/** What a number field shows: short, and read back as the same number for all that people set. */
export const editable = (value) => String(Number(Number(value).toPrecision(6)));
