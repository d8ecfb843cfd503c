// The WebSocket to the server, opened again whenever it is lost.

const FIRST_WAIT = 300;
const LONGEST_WAIT = 3000;
const REFUSALS = { 4401: "token", 4429: "tabs" };

export class Connection {
  /**
   * hello() gives the first message of every connection; onText and onBinary get what arrives;
   * onState gets "connecting", "open", "lost", "token" or "tabs", and how many tries have failed in a row.
   */
  constructor(url, { hello, onText, onBinary, onState }) {
    Object.assign(this, { url, hello, onText, onBinary, onState });
    this.failures = 0;
    this.state = "connecting";
    this.timer = null;
    window.addEventListener("online", () => this.tryNow());
    window.addEventListener("focus", () => this.tryNow());
  }

  open() {
    clearTimeout(this.timer);
    this.timer = null;
    if (this.failures === 0) this.tell("connecting");
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      socket.send(JSON.stringify(this.hello()));
      this.failures = 0;
      this.tell("open");
    };
    socket.onmessage = ({ data }) => (typeof data === "string" ? this.onText(JSON.parse(data)) : this.onBinary(data));
    socket.onclose = ({ code }) => this.closed(code);
    this.socket = socket;
  }

  closed(code) {
    this.failures += 1;
    this.tell(REFUSALS[code] ?? "lost");
    // Without the token another try is as hopeless: only the user can change that.
    if (code === 4401) return;
    const wait = code === 4429 ? LONGEST_WAIT : Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (this.failures - 1));
    this.timer = setTimeout(() => this.open(), wait);
  }

  /** Does not wait for the next try: the user looks at the page, or the network is back. */
  tryNow() {
    if (this.timer !== null) this.open();
  }

  tell(state) {
    this.state = state;
    this.onState(state, this.failures);
  }

  /** Sends a message; false where there is no connection. Nothing is kept for later: it would surprise then. */
  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }
}
