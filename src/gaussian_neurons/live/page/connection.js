// The WebSocket to the server. It reconnects when the connection is lost.

const FIRST_WAIT = 300;
const LONGEST_WAIT = 3000;
const REFUSALS = { 4401: "token", 4429: "tabs" };

export class Connection {
  /**
   * hello() returns the first message of every connection; onText and onBinary receive messages;
   * onState receives "connecting", "open", "lost", "token" or "tabs", and the number of consecutive failures.
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
    if (this.failures === 0) this.setState("connecting");
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      socket.send(JSON.stringify(this.hello()));
      this.failures = 0;
      this.setState("open");
    };
    socket.onmessage = ({ data }) => (typeof data === "string" ? this.onText(JSON.parse(data)) : this.onBinary(data));
    socket.onclose = ({ code }) => this.closed(code);
    this.socket = socket;
  }

  closed(code) {
    this.failures += 1;
    this.setState(REFUSALS[code] ?? "lost");
    // Retrying does not help: the user must open the address with the token.
    if (code === 4401) return;
    const wait = code === 4429 ? LONGEST_WAIT : Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (this.failures - 1));
    this.timer = setTimeout(() => this.open(), wait);
  }

  /** Reconnects at once: the page has the focus, or the network is back. */
  tryNow() {
    if (this.timer !== null) this.open();
  }

  setState(state) {
    this.state = state;
    this.onState(state, this.failures);
  }

  /** Sends a message. Returns false without a connection; the message is not sent later. */
  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }
}
