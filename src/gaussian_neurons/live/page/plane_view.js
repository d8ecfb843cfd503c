// The visible part of the plane: data to pixels and back. The view grows slowly to include learned neurons.

const MARGIN = 0.14; // around the domain, as a part of its sides
const MAX_DISTANCE = 2; // from the middle, in domains: neurons farther away get an arrow
const GLIDE = 260; // ms, time constant of the animation
const SHRINK_BELOW = 0.7; // part of the view that must be enough before it shrinks

export class View {
  constructor() {
    this.width = this.height = 1;
    this.ratio = 1;
    this.domain = [0, 0, 1, 1];
    this.goal = [0, 0, 1, 1]; // the box to show
    this.middle = [0.5, 0.5];
    this.scale = 1; // pixels per unit
    this.version = 0; // counts changes of the view
    this.moving = false;
  }

  setSize(width, height, ratio) {
    Object.assign(this, { width, height, ratio });
    this.finish();
  }

  /** Shows a new domain, without animation. */
  setDomain(domain) {
    this.domain = domain.slice();
    this.goal = this.domainBox();
    this.finish();
  }

  /** The domain with its margin. */
  domainBox() {
    const [x0, y0, x1, y1] = this.domain;
    const margin = MARGIN * Math.max(x1 - x0, y1 - y0, 1e-9);
    return [x0 - margin, y0 - margin, x1 + margin, y1 + margin];
  }

  /** Sets the goal to include the learned neurons. It grows at once and shrinks only if it is much too large. */
  fit(neurons) {
    const need = this.domainBox();
    const [hx0, hy0, hx1, hy1] = need;
    const [mx, my] = [(hx0 + hx1) / 2, (hy0 + hy1) / 2];
    const reach = MAX_DISTANCE * Math.max(hx1 - hx0, hy1 - hy0);
    const edge = 0.06 * Math.max(hx1 - hx0, hy1 - hy0);
    for (let i = 0; i < neurons.count; i++) {
      const x = neurons.targets[2 * i];
      const y = neurons.targets[2 * i + 1];
      if (!neurons.learned[i] || !(Math.hypot(x - mx, y - my) < reach)) continue;
      need[0] = Math.min(need[0], x - edge);
      need[1] = Math.min(need[1], y - edge);
      need[2] = Math.max(need[2], x + edge);
      need[3] = Math.max(need[3], y + edge);
    }
    const [gx0, gy0, gx1, gy1] = this.goal;
    const inside = need[0] >= gx0 && need[1] >= gy0 && need[2] <= gx1 && need[3] <= gy1;
    const large = Math.max((need[2] - need[0]) / (gx1 - gx0), (need[3] - need[1]) / (gy1 - gy0)) < SHRINK_BELOW;
    if (inside && !large) return;
    this.goal = large ? need : [0, 1, 2, 3].map((k) => (k < 2 ? Math.min : Math.max)(need[k], this.goal[k]));
    this.moving = true;
  }

  target() {
    const [x0, y0, x1, y1] = this.goal;
    const scale = Math.min(this.width / (x1 - x0), this.height / (y1 - y0));
    return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, scale };
  }

  finish() {
    const { x, y, scale } = this.target();
    this.middle = [x, y];
    this.scale = scale;
    this.moving = false;
    this.version++;
  }

  /** Advances the animation. Returns false when it ends. */
  step(elapsed) {
    if (!this.moving) return false;
    const { x, y, scale } = this.target();
    const part = 1 - Math.exp(-elapsed / GLIDE);
    const pixels = Math.hypot(x - this.middle[0], y - this.middle[1]) * scale;
    if (Math.abs(Math.log(scale / this.scale)) < 1e-3 && pixels < 0.5) {
      this.finish();
      return false;
    }
    this.scale *= (scale / this.scale) ** part;
    this.middle[0] += (x - this.middle[0]) * part;
    this.middle[1] += (y - this.middle[1]) * part;
    this.version++;
    return true;
  }

  x(value) {
    return this.width / 2 + (value - this.middle[0]) * this.scale;
  }

  y(value) {
    return this.height / 2 - (value - this.middle[1]) * this.scale; // y points up
  }

  toData(px, py) {
    return [this.middle[0] + (px - this.width / 2) / this.scale, this.middle[1] - (py - this.height / 2) / this.scale];
  }

  /** [x0, y0, x1, y1] of the visible part. */
  box() {
    const halfWidth = this.width / 2 / this.scale;
    const halfHeight = this.height / 2 / this.scale;
    const [x, y] = this.middle;
    return [x - halfWidth, y - halfHeight, x + halfWidth, y + halfHeight];
  }

  /** The shorter side of the visible part, in data units. */
  extent() {
    return Math.min(this.width, this.height) / this.scale;
  }
}
