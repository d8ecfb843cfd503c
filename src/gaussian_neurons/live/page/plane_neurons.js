// The neurons as they are shown: gliding from frame to frame, one of them held by the pointer, each with its path.

const GLIDE = 45; // ms; frames come every 50
const MOST_PATH = 240; // points of one path
const ALL_PATHS = 14_000; // points of all of them, so that 400 neurons draw as fast as 40

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
    this.targets = new Float64Array(0); // as the last frame said
    this.widths = new Float64Array(0);
    this.learned = new Uint8Array(0);
    this.index = new Map();
    this.paths.clear();
    this.moving = false;
    this.version++;
  }

  /** Takes a frame over; `spacing` is the distance that a path's points keep. */
  setFrame({ ids, centers, widths, learned }, spacing, glide) {
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
    Object.assign(this, { count, places, index });
    this.ids = Int32Array.from(ids);
    this.targets = Float64Array.from(centers);
    this.widths = Float64Array.from(widths);
    this.learned = Uint8Array.from(learned);
    this.moving = true;
    this.version++;
    this.applyHold();
    this.remember(spacing);
  }

  indexOf(id) {
    return this.index.get(id) ?? -1;
  }

  hold(id, x, y) {
    this.held = { id, x, y };
    this.applyHold();
    this.version++;
  }

  release() {
    this.held = null;
  }

  /** The held neuron is where the pointer is, whatever the last frame says: frames are late. */
  applyHold() {
    const i = this.held ? this.indexOf(this.held.id) : -1;
    if (i < 0) return;
    this.places[2 * i] = this.targets[2 * i] = this.held.x;
    this.places[2 * i + 1] = this.targets[2 * i + 1] = this.held.y;
  }

  /** One step of the glide; false once all are there. `near` is a distance too small to be seen. */
  step(passed, near) {
    if (!this.moving) return false;
    const part = 1 - Math.exp(-passed / GLIDE);
    let farthest = 0;
    for (let k = 0; k < this.places.length; k++) {
      const way = this.targets[k] - this.places[k];
      farthest = Math.max(farthest, Math.abs(way));
      this.places[k] += way * part;
    }
    this.moving = farthest > near;
    if (!this.moving) this.places.set(this.targets);
    return this.moving;
  }

  remember(spacing) {
    const most = Math.max(24, Math.min(MOST_PATH, Math.floor(ALL_PATHS / Math.max(this.count, 1))));
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

/** Where one neuron has been. When it is full, every second point goes, so that its beginning stays. */
class Path {
  constructor() {
    this.points = new Float64Array(2 * (MOST_PATH + 1));
    this.length = 0;
    this.sparser = 1;
  }

  /** Where it has been before, the path goes back to there: a neuron that trembles leaves a way, not a tangle. */
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
    this.sparser *= 1.6; // not 2: a path that goes on must not look as if it stood still
  }
}
