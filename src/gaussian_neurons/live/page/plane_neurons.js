// The neurons as shown: they glide from frame to frame. Each has a path, and the pointer may hold one.

const GLIDE = 45; // ms; frames come every 50
const MAX_PATH = 240; // points of a path
const MAX_ALL_PATHS = 14_000; // points of all paths: 400 neurons are drawn as fast as 40

export class NeuronSet {
  constructor() {
    this.paths = new Map();
    this.held = null; // {id, x, y}
    this.version = 0;
    this.clear();
  }

  clear() {
    this.count = 0;
    this.ids = new Int32Array(0);
    this.places = new Float64Array(0); // as shown
    this.targets = new Float64Array(0); // of the last frame
    this.covariances = new Float64Array(0); // see plane_ellipses.js
    this.learned = new Uint8Array(0);
    this.outside = new Uint8Array(0); // whether the center is outside the domain
    this.clusters = null; // with an automatic width: the number of each neuron's cluster, -1 for none
    this.links = []; // indices of joined neurons, in pairs
    this.index = new Map();
    this.removals = new Map(); // number of a removed neuron → where each neuron was then
    this.paths.clear();
    this.moving = false;
    this.version++;
  }

  /** Takes a frame; `spacing` is the distance between the points of a path. */
  setFrame({ ids, centers, covariances, learned, outside = [], clusters = null, links = [] }, spacing, glide) {
    const count = ids.length;
    const places = new Float64Array(2 * count);
    const index = new Map();
    for (let i = 0; i < count; i++) {
      const before = glide ? this.index.get(ids[i]) : undefined;
      const from = before === undefined ? centers : this.places;
      const at = before === undefined ? i : before;
      places[2 * i] = from[2 * at];
      places[2 * i + 1] = from[2 * at + 1];
      index.set(ids[i], i);
    }
    for (const id of this.ids) if (!index.has(id)) this.removals.set(id, { index: this.index, targets: this.targets });
    Object.assign(this, { count, places, index, clusters, links });
    this.ids = Int32Array.from(ids);
    this.targets = Float64Array.from(centers);
    this.covariances = Float64Array.from(covariances);
    this.learned = Uint8Array.from(learned);
    this.outside = Uint8Array.from(outside);
    this.moving = true;
    this.version++;
    this.applyHold();
    this.extendPaths(spacing);
  }

  indexOf(id) {
    return this.index.get(id) ?? -1;
  }

  /** The position of a neuron when another was removed, undefined if it was added later. */
  placeAtRemoval(removed, id) {
    const { index, targets } = this.removals.get(removed) ?? {};
    return index?.has(id) ? targets.subarray(2 * index.get(id), 2 * index.get(id) + 2) : undefined;
  }

  hold(id, x, y) {
    this.held = { id, x, y };
    this.applyHold();
    this.version++;
  }

  release() {
    this.held = null;
  }

  /** Keeps the held neuron at the pointer, because frames arrive late. */
  applyHold() {
    const i = this.held ? this.indexOf(this.held.id) : -1;
    if (i < 0) return;
    this.places[2 * i] = this.targets[2 * i] = this.held.x;
    this.places[2 * i + 1] = this.targets[2 * i + 1] = this.held.y;
  }

  /** Advances the animation. Returns false when it ends; distances up to `near` are invisible. */
  step(elapsed, near) {
    if (!this.moving) return false;
    const part = 1 - Math.exp(-elapsed / GLIDE);
    let farthest = 0;
    for (let k = 0; k < this.places.length; k++) {
      const distance = this.targets[k] - this.places[k];
      farthest = Math.max(farthest, Math.abs(distance));
      this.places[k] += distance * part;
    }
    this.moving = farthest > near;
    if (!this.moving) this.places.set(this.targets);
    return this.moving;
  }

  extendPaths(spacing) {
    const most = Math.max(24, Math.min(MAX_PATH, Math.floor(MAX_ALL_PATHS / Math.max(this.count, 1))));
    for (let i = 0; i < this.count; i++) {
      let path = this.paths.get(this.ids[i]);
      if (!path) this.paths.set(this.ids[i], (path = new Path()));
      path.add(this.targets[2 * i], this.targets[2 * i + 1], spacing, most);
    }
    if (this.paths.size > this.count) {
      for (const id of this.paths.keys()) if (!this.index.has(id)) this.paths.delete(id);
    }
  }
}

/** The path of a neuron. When it is full, every second point is dropped, so that its beginning stays. */
class Path {
  constructor() {
    this.points = new Float64Array(2 * (MAX_PATH + 1));
    this.length = 0;
    this.sparser = 1;
  }

  /** Adds a point. If the neuron returns to an earlier point, the path is cut there: jitter leaves no tangle. */
  add(x, y, spacing, most) {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    const near = spacing * this.sparser;
    for (let k = 0; k < this.length; k++) {
      const dx = x - this.points[2 * k];
      const dy = y - this.points[2 * k + 1];
      if (dx * dx + dy * dy > near * near) continue;
      this.length = k + 1;
      return;
    }
    this.points[2 * this.length] = x;
    this.points[2 * this.length + 1] = y;
    this.length++;
    if (this.length > most) this.thin();
  }

  thin() {
    let kept = 0;
    for (let k = 0; k < this.length; k += 2, kept++) {
      this.points[2 * kept] = this.points[2 * k];
      this.points[2 * kept + 1] = this.points[2 * k + 1];
    }
    this.length = kept;
    this.sparser *= 1.6; // less than 2, so that the path visibly continues
  }
}
