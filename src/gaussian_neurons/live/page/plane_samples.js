// Arriving samples: short flashes, the current sample x, and the recent ones for the surface.

const FLASH = 650; // ms
const MAX_FLASHES = 200;
const FLASHES_PER_FRAME = 9;
const HOLD = 400; // ms between two changes of x, to avoid flicker
const HOLD_REDUCED = 1200;
const RECENT = 60;

export class Samples {
  constructor() {
    this.version = 0;
    this.clear();
  }

  clear() {
    this.seen = -1;
    this.newest = null;
    this.current = null; // [x, y] of x
    this.upcoming = null; // the next sample, if the samples are slow enough to show it
    this.changed = -Infinity; // time of its last change
    this.recent = new Float64Array(0); // x, y, ..., for the surface
    this.latest = new Float64Array(0);
    this.flashes = []; // ring buffer of {x, y, at, painted}
    this.next = 0;
    this.version++;
    this.waiting = false;
    this.until = 0;
  }

  /** Takes a frame. Samples that are newer than the last frame flash. */
  setFrame({ samples, seen, x }, now, reduced) {
    if (seen < this.seen) this.clear();
    this.upcoming = x ?? null;
    const count = samples.length / 2;
    const first = this.seen < 0;
    const fresh = first ? count : Math.min(count, seen - this.seen);
    this.seen = seen;
    if (x) this.showNext(x, now);
    if (!fresh) return;
    this.newest = [samples[2 * count - 2], samples[2 * count - 1]];
    this.latest = appended(this.latest, samples.subarray(2 * (count - fresh)));
    this.waiting = true;
    const flashing = reduced || first ? 0 : Math.min(fresh, FLASHES_PER_FRAME);
    for (let n = count - flashing; n < count; n++) this.flash(samples[2 * n], samples[2 * n + 1], now, false);
  }

  /** Shows the sample that is learned next as x. */
  showNext(x, now) {
    if (this.current?.[0] === x[0] && this.current[1] === x[1]) return;
    this.current = [x[0], x[1]];
    this.changed = now;
    this.version++;
  }

  flash(x, y, at, painted) {
    const flash = this.flashes[this.next] ?? (this.flashes[this.next] = {});
    Object.assign(flash, { x, y, at, painted });
    this.next = (this.next + 1) % MAX_FLASHES;
    this.until = at + FLASH;
  }

  /** Changes x to the newest sample after HOLD. Returns whether more changes follow. */
  step(now, reduced) {
    if (this.waiting && now - this.changed >= (reduced ? HOLD_REDUCED : HOLD)) {
      this.recent = this.latest;
      if (!this.upcoming) Object.assign(this, { current: this.newest, changed: now });
      this.waiting = false;
      this.version++;
    }
    return this.waiting || now < this.until;
  }

  draw(context, view, theme, now) {
    for (const painted of [false, true]) {
      context.fillStyle = painted ? theme.marked : theme.ink;
      for (const flash of this.flashes) {
        const age = (now - flash.at) / FLASH;
        if (age >= 1 || flash.painted !== painted) continue;
        const fade = 1 - Math.max(age, 0);
        context.globalAlpha = (painted ? 0.75 : 0.45) * fade * fade;
        context.beginPath();
        context.arc(view.x(flash.x), view.y(flash.y), 1.6 + 1.6 * fade, 0, 2 * Math.PI);
        context.fill();
      }
    }
    context.globalAlpha = 1;
  }

  /** Draws x as a ring and a cross, with its name at a free corner. */
  drawCurrent(context, view, theme, now, occupied) {
    if (!this.current) return;
    const x = view.x(this.current[0]);
    const y = view.y(this.current[1]);
    const fresh = Math.max(0, 1 - (now - this.changed) / 300);
    context.lineCap = "round";
    for (const [colour, width] of [[theme.card, 5], [theme.ink, 1.75]]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.globalAlpha = colour === theme.card ? 0.75 : 1;
      context.beginPath();
      context.arc(x, y, 8 + 4 * fresh * fresh, 0, 2 * Math.PI);
      context.moveTo(x - 3.5, y);
      context.lineTo(x + 3.5, y);
      context.moveTo(x, y - 3.5);
      context.lineTo(x, y + 3.5);
      context.stroke();
    }
    context.globalAlpha = 1;
    const [nameX, nameY] = freeCorner(x, y, occupied);
    context.font = `italic 600 ${16 * theme.size}px Georgia, "Times New Roman", serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 4;
    context.strokeStyle = theme.card;
    context.strokeText("x", nameX, nameY);
    context.fillStyle = theme.ink;
    context.fillText("x", nameX, nameY);
  }
}

/** The corner around (x, y) with the largest distance from occupied pixels; the upper right one if all are free. */
export function freeCorner(x, y, occupied) {
  const clearance = (place) => {
    return Math.min(24, ...occupied.map((other) => Math.hypot(other[0] - place[0], other[1] - place[1])));
  };
  const corners = [[1, -1], [-1, -1], [1, 1], [-1, 1]].map(([right, down]) => [x + 15 * right, y + 10 * down]);
  return corners.reduce((best, place) => (clearance(place) > clearance(best) + 1 ? place : best));
}

/** The last RECENT samples of both. */
function appended(old, fresh) {
  const all = new Float64Array(old.length + fresh.length);
  all.set(old);
  all.set(fresh, old.length);
  return all.slice(-2 * RECENT);
}
