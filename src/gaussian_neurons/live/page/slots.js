// Which filter stands where. A removed one leaves its place empty, so that no other moves under the pointer. No DOM.

export class Slots {
  constructor() {
    this.ids = []; // the neuron of each place, null where it is empty
    this.last = ""; // ids of the last frame
    this.started = null; // with how many, where the next frame is of another start
    this.closing = null; // how many places there are to be, once no more neurons are there
  }

  /** The next frame is of a start with so many: all stand in a row, with gaps where some were removed before we came. */
  beginAnew(count) {
    this.started = count;
  }

  /** So many were asked for, which is fewer (null: it is not): where no more are there, gaps are closed. */
  closeUp(count) {
    this.closing = count;
  }

  /** Takes over a frame's neurons: newcomers fill the first gaps, then go to the end. True where any came or went. */
  take(ids) {
    const now = ids.join();
    const closes = this.closing !== null && ids.length <= this.closing; // a frame from before may come first
    if (now === this.last && this.started === null && !closes) return false;
    this.last = now;
    const here = new Set(ids);
    if (this.started > ids.length) this.ids = Array.from({ length: this.started }, (_, k) => k + 1);
    else if (this.started !== null) this.ids = [];
    this.started = null;
    this.ids = this.ids.map((id) => (here.has(id) ? id : null));
    if (closes) this.ids = this.ids.filter((id) => id !== null);
    if (closes) this.closing = null;
    const known = new Set(this.ids);
    for (const id of ids) {
      if (known.has(id)) continue;
      const gap = this.ids.indexOf(null);
      this.ids[gap < 0 ? this.ids.length : gap] = id;
    }
    return true;
  }

  /** The nearest filter from a place on in steps; those that `skip` names do not count. Undefined: there is none. */
  from(at, step, skip = () => false) {
    for (let k = at + step; k >= 0 && k < this.ids.length; k += step) {
      if (this.ids[k] !== null && !skip(this.ids[k])) return this.ids[k];
    }
    return undefined;
  }
}
