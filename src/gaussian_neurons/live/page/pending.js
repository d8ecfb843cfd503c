// A value that was sent to the server and is not confirmed yet. Until then, older values from the server are ignored.

const TIMEOUT = 3000; // ms

export class Pending {
  constructor() {
    this.value = undefined; // the value sent last
    this.clear();
  }

  set(value) {
    this.value = value;
    this.sentAt = performance.now();
  }

  /** Stops waiting for a confirmation. */
  clear() {
    this.sentAt = -Infinity;
  }

  /** The ms to wait for a confirmation, given the server's current value; 0 if that is the confirmation. */
  remaining(current) {
    if (JSON.stringify(current) === JSON.stringify(this.value)) this.clear();
    return Math.max(0, this.sentAt + TIMEOUT - performance.now());
  }
}
