// The paper's cost F as a function of the position of one neuron. No DOM.

/**
 * F(x) = sum_i ( -f_i(x) + lambda sum_{j != i} f_j(mu_i) ), f_i(x) = exp(-|x - mu_i|^2 / sigma_i), the mean over
 * the samples, with neuron `selected` at each position of a grid and all others fixed.
 *
 * centers (2K), widths (K), samples (2n): x, y, x, y ...; box: [x0, y0, x1, y1].
 * out: the array for the result, if given; rest: the result of `costWithout`, if known.
 * Returns ny * nx numbers, row by row from y0 upward. A position is the middle of its cell:
 * x = x0 + (column + 1/2) / nx * (x1 - x0), so that the grid can be drawn as an image of nx by ny pixels.
 */
export function surface(centers, widths, selected, samples, lambda, box, nx, ny, out, rest) {
  const xs = middles(box[0], box[2], nx);
  const ys = middles(box[1], box[3], ny);
  const total = new Float64Array(nx * ny).fill(rest ?? costWithout(centers, widths, selected, samples, lambda));
  const own = widths[selected];
  const count = samples.length / 2;
  for (let n = 0; n < count; n++) {
    addGaussian(total, xs, ys, samples[2 * n], samples[2 * n + 1], own, -1 / count);
  }
  for (let j = 0; j < widths.length && lambda !== 0; j++) {
    if (j === selected) continue;
    const x = centers[2 * j];
    const y = centers[2 * j + 1];
    // f_j(position) and f_selected(mu_j) are equal if the widths are
    if (widths[j] === own) {
      addGaussian(total, xs, ys, x, y, own, 2 * lambda);
    } else {
      addGaussian(total, xs, ys, x, y, widths[j], lambda);
      addGaussian(total, xs, ys, x, y, own, lambda);
    }
  }
  if (!out) return Float32Array.from(total);
  out.set(total);
  return out;
}

/** F with neuron `selected` at an infinite distance. */
export function costWithout(centers, widths, selected, samples, lambda) {
  const count = samples.length / 2;
  let attraction = 0;
  let repulsion = 0;
  for (let i = 0; i < widths.length; i++) {
    if (i === selected) continue;
    const x = centers[2 * i];
    const y = centers[2 * i + 1];
    for (let n = 0; n < count; n++) {
      attraction += gaussian(samples[2 * n] - x, samples[2 * n + 1] - y, widths[i]);
    }
    for (let j = 0; j < widths.length; j++) {
      if (j === selected || j === i) continue;
      repulsion += gaussian(x - centers[2 * j], y - centers[2 * j + 1], widths[j]);
    }
  }
  return (count ? -attraction / count : 0) + lambda * repulsion;
}

/** The neuron with the strongest response to (x, y), or -1. Logarithms, because small responses round to 0. */
export function strongest(centers, widths, x, y) {
  let best = -1;
  let most = -Infinity;
  for (let i = 0; i < widths.length; i++) {
    const dx = x - centers[2 * i];
    const dy = y - centers[2 * i + 1];
    const log = -(dx * dx + dy * dy) / widths[i];
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

/** total += weight * exp(-|position - (x, y)|^2 / width). The Gaussian factorizes: nx + ny exponentials suffice. */
function addGaussian(total, xs, ys, x, y, width, weight) {
  const nx = xs.length;
  const across = factors(xs, x, width);
  const up = factors(ys, y, width);
  for (let row = 0, k = 0; row < ys.length; row++, k += nx) {
    const factor = weight * up[row];
    if (Math.abs(factor) < 1e-12) continue; // below the precision of Float32
    for (let column = 0; column < nx; column++) total[k + column] += factor * across[column];
  }
}

function factors(places, middle, width) {
  const found = new Float64Array(places.length);
  for (let k = 0; k < places.length; k++) {
    const d = places[k] - middle;
    found[k] = Math.exp((-d * d) / width);
  }
  return found;
}

function gaussian(dx, dy, width) {
  return Math.exp(-(dx * dx + dy * dy) / width);
}

function middles(from, to, count) {
  return Float64Array.from({ length: count }, (_, k) => from + ((k + 0.5) / count) * (to - from));
}
