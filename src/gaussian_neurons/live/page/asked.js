// What was asked for and is not answered yet: until it is, what the server says may be older, and would undo it.

const ANSWER = 3000; // ms in which an answer is waited for

export class Asked {
  constructor() {
    this.value = undefined; // the last one
    this.forget();
  }

  ask(value) {
    this.value = value;
    this.at = performance.now();
  }

  /** Waits for no answer any more. */
  forget() {
    this.at = -Infinity;
  }

  /** How many ms the answer may take still, now that the server has told this; 0 where it is the answer. */
  wait(told) {
    if (JSON.stringify(told) === JSON.stringify(this.value)) this.forget();
    return Math.max(0, this.at + ANSWER - performance.now());
  }
}
