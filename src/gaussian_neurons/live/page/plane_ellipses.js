// The ellipse of a neuron: where its response is 1/e, (x - mu)^T Sigma^-1 (x - mu) = 1. No DOM.
//
// covariances: 3 numbers for each neuron, Sigma_xx, Sigma_xy, Sigma_yy. A width sigma is [sigma, 0, sigma].

const [SMALLEST, LARGEST] = [1e-3, 1e5]; // px of a half axis

const partsOf = (covariances, i) => [covariances[3 * i], covariances[3 * i + 1], covariances[3 * i + 2]];

/** {long, short, angle}: the half axes of a covariance, and the angle of the longer one, from 0 to pi. */
export function axesOf(covariances, i) {
  const [xx, xy, yy] = partsOf(covariances, i);
  const largest = (xx + yy) / 2 + Math.hypot((xx - yy) / 2, xy);
  const angle = Math.atan2(2 * xy, xx - yy) / 2;
  return {
    long: Math.sqrt(largest),
    short: Math.sqrt(Math.max(0, (xx * yy - xy * xy) / largest)),
    angle: angle < 0 ? angle + Math.PI : angle,
  };
}

/** [p, q, r]: the inverse of a covariance, such that the squared length of (x, y) is p x^2 + 2 q x y + r y^2. */
export function inverseOf(covariances, i) {
  const [xx, xy, yy] = partsOf(covariances, i);
  const determinant = xx * yy - xy * xy;
  return [yy / determinant, -xy / determinant, xx / determinant];
}

/** The ellipse on the screen, in pixels: {x, y, long, short, angle, cos, sin, wide, high}. The angle is clockwise. */
export function ellipseOf(view, neurons, i) {
  const pixels = (length) => Math.max(SMALLEST, Math.min(length * view.scale, LARGEST)) || SMALLEST;
  const { long, short, angle } = axesOf(neurons.covariances, i);
  return {
    x: view.x(neurons.places[2 * i]),
    y: view.y(neurons.places[2 * i + 1]),
    long: pixels(long),
    short: pixels(short),
    angle: -angle,
    cos: Math.cos(angle),
    sin: -Math.sin(angle),
    wide: pixels(Math.sqrt(neurons.covariances[3 * i])), // half of its extent
    high: pixels(Math.sqrt(neurons.covariances[3 * i + 2])),
  };
}

/** Whether an ellipse is outside the view. */
export function isHidden(view, { x, y, wide, high }) {
  return !(x > -wide && y > -high && x < view.width + wide && y < view.height + high);
}

/** The distance of a pixel from an ellipse along the line through its middle, as a part of that line. */
export function scaledDistance(ellipse, px, py) {
  const [along, across] = turned(ellipse, px, py);
  return Math.hypot(along / ellipse.long, across / ellipse.short);
}

/** The distance of a pixel from the line of an ellipse, in pixels: exact for a circle, and near the line. */
export function lineDistance(ellipse, px, py) {
  const [along, across] = turned(ellipse, px, py);
  const scaled = Math.hypot(along / ellipse.long, across / ellipse.short);
  const slope = Math.hypot(along / ellipse.long ** 2, across / ellipse.short ** 2) / scaled;
  return slope > 0 ? Math.abs(scaled - 1) / slope : ellipse.short;
}

/** A pixel in the coordinates of the axes. */
function turned({ x, y, cos, sin }, px, py) {
  return [cos * (px - x) + sin * (py - y), cos * (py - y) - sin * (px - x)];
}
