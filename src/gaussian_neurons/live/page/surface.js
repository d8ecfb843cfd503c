// The paper's cost F as a function of the position of one neuron. No DOM.

import { inverseOf } from "./plane_ellipses.js";

/**
 * F(x) = sum_i ( -f_i(x) + lambda sum_{j != i} f_j(mu_i) ), f_i(x) = exp(-(x - mu_i)^T Sigma_i^-1 (x - mu_i)), the mean
 * over the samples, with neuron `selected` at each position of a grid and all others fixed.
 *
 * centers (2K), samples (2n): x, y, x, y ...; covariances (3K): see plane_ellipses.js; box: [x0, y0, x1, y1].
 * out: the array for the result, if given; rest: the result of `costWithout`, if known.
 * Returns ny * nx numbers, row by row from y0 upward. A position is the middle of its cell:
 * x = x0 + (column + 1/2) / nx * (x1 - x0), so that the grid can be drawn as an image of nx by ny pixels.
 */
export function surface(centers, covariances, selected, samples, lambda, box, nx, ny, out, rest) {
  const grid = { box, nx, ny };
  const total = new Float64Array(nx * ny).fill(rest ?? costWithout(centers, covariances, selected, samples, lambda));
  const own = inverseOf(covariances, selected);
  const count = samples.length / 2;
  for (let n = 0; n < count; n++) {
    addGaussian(total, grid, samples[2 * n], samples[2 * n + 1], own, -1 / count);
  }
  for (let j = 0; 2 * j < centers.length && lambda !== 0; j++) {
    if (j === selected) continue;
    const other = inverseOf(covariances, j);
    const x = centers[2 * j];
    const y = centers[2 * j + 1];
    // f_j(position) and f_selected(mu_j) are equal if the covariances are
    if (other.every((part, k) => part === own[k])) {
      addGaussian(total, grid, x, y, own, 2 * lambda);
    } else {
      addGaussian(total, grid, x, y, other, lambda);
      addGaussian(total, grid, x, y, own, lambda);
    }
  }
  if (!out) return Float32Array.from(total);
  out.set(total);
  return out;
}

/** F with neuron `selected` at an infinite distance. */
export function costWithout(centers, covariances, selected, samples, lambda) {
  const count = samples.length / 2;
  let attraction = 0;
  let repulsion = 0;
  for (let j = 0; 2 * j < centers.length; j++) {
    if (j === selected) continue;
    const inverse = inverseOf(covariances, j);
    const x = centers[2 * j];
    const y = centers[2 * j + 1];
    for (let n = 0; n < count; n++) {
      attraction += Math.exp(-squared(inverse, samples[2 * n] - x, samples[2 * n + 1] - y));
    }
    for (let i = 0; 2 * i < centers.length; i++) {
      if (i === selected || i === j) continue;
      repulsion += Math.exp(-squared(inverse, centers[2 * i] - x, centers[2 * i + 1] - y));
    }
  }
  return (count ? -attraction / count : 0) + lambda * repulsion;
}

/** The neuron with the strongest response to (x, y), or -1. Logarithms, because small responses round to 0. */
export function strongest(centers, covariances, x, y) {
  let best = -1;
  let most = -Infinity;
  for (let i = 0; 2 * i < centers.length; i++) {
    const log = -squared(inverseOf(covariances, i), x - centers[2 * i], y - centers[2 * i + 1]);
    if (log > most) {
      most = log;
      best = i;
    }
  }
  return best;
}

/** The lowest position of a surface, interpolated: [column, row] in cells, or null if it is on the border. */
export function lowest(values, nx, ny) {
  let at = 0;
  for (let k = 1; k < values.length; k++) if (values[k] < values[at]) at = k;
  const column = at % nx;
  const row = (at - column) / nx;
  if (column === 0 || row === 0 || column === nx - 1 || row === ny - 1) return null;
  return [
    column + vertex(values[at - 1], values[at], values[at + 1]),
    row + vertex(values[at - nx], values[at], values[at + nx]),
  ];
}

/** The offset of the vertex of the parabola through three neighbours from the middle one, in cells. */
function vertex(before, middle, after) {
  const bend = before - 2 * middle + after;
  return bend > 0 ? (before - after) / (2 * bend) : 0;
}

/**
 * total += weight * exp(-(position - (x, y))^T Sigma^-1 (position - (x, y))).
 *
 * From its highest column, a row of a Gaussian falls by factors that themselves fall by a constant factor: three
 * exponentials suffice for a row.
 */
function addGaussian(total, { box, nx, ny }, x, y, inverse, weight) {
  const [p, q, r] = inverse;
  const [x0, y0, x1, y1] = box;
  const step = (x1 - x0) / nx;
  const bend = Math.exp(-2 * p * step * step);
  for (let row = 0; row < ny; row++) {
    const dy = y0 + ((row + 0.5) / ny) * (y1 - y0) - y;
    const highest = x - (q / p) * dy;
    const first = Math.max(0, Math.min(nx - 1, Math.floor((highest - x0) / step)));
    const from = x0 + (first + 0.5) * step - highest; // at most half a step from the highest, if that is in the row
    const top = weight * Math.exp(-p * from * from - (r - (q * q) / p) * dy * dy);
    if (Math.abs(top) < 1e-12) continue; // below the precision of Float32
    const start = row * nx + first;
    total[start] += top;
    for (const side of [1, -1]) {
      let value = top;
      let factor = Math.exp(-p * step * (step + 2 * side * from));
      const end = side > 0 ? (row + 1) * nx : row * nx - 1;
      for (let k = start + side; k !== end; k += side) {
        value *= factor;
        factor *= bend;
        total[k] += value;
      }
    }
  }
}

/** The squared length of (x, y) in the units of a covariance. */
function squared([p, q, r], x, y) {
  return p * x * x + 2 * q * x * y + r * y * y;
}
