// The slot of each filter in the grid. A removed filter leaves its slot empty, so that no other filter moves. No DOM.

export class Slots {
  constructor() {
    this.ids = []; // the neuron in each slot, null if it is empty
    this.former = new Map(); // number of a neuron -> its slot, also after its removal
    this.last = ""; // ids of the last frame
    this.restartCount = null; // neurons at the start of a new trial, until its first frame arrives
    this.shrinkCount = null; // slots to keep, once the number of neurons has decreased to it
  }

  /** Prepares for the first frame of a trial that started with `count` neurons. */
  restart(count) {
    this.restartCount = count;
  }

  /** Removes empty slots once at most `count` neurons are left; null: does not. */
  shrinkTo(count) {
    this.shrinkCount = count;
  }

  /** Takes the neurons of a frame. New ones fill the first empty slots. Returns whether anything changed. */
  take(ids) {
    const now = ids.join();
    const shrinks = this.shrinkCount !== null && ids.length <= this.shrinkCount; // an older frame may come first
    if (now === this.last && this.restartCount === null && !shrinks) return false;
    this.last = now;
    const present = new Set(ids);
    // Neurons that were removed before this page connected leave empty slots, too.
    if (this.restartCount !== null) this.former.clear();
    if (this.restartCount !== null) this.ids = Array.from({ length: this.restartCount }, (_, k) => k + 1);
    this.restartCount = null;
    this.ids = this.ids.map((id) => (present.has(id) ? id : null));
    if (shrinks) this.ids = this.ids.filter((id) => id !== null);
    if (shrinks) this.shrinkCount = null;
    const known = new Set(this.ids);
    for (const id of ids) {
      if (known.has(id)) continue;
      const empty = this.ids.indexOf(null);
      this.ids[empty < 0 ? this.ids.length : empty] = id;
    }
    this.ids.forEach((id, k) => id !== null && this.former.set(id, k));
    return true;
  }

  /** The slot of a neuron, also after its removal, or -1. */
  of(id) {
    return this.former.get(id) ?? -1;
  }

  /** The next neuron from slot `at` in steps, without empty slots; or undefined. */
  from(at, step) {
    for (let k = at + step; k >= 0 && k < this.ids.length; k += step) {
      if (this.ids[k] !== null) return this.ids[k];
    }
    return undefined;
  }
}
