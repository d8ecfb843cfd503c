// The status line, and the messages that cover the stage.

import { counted, plain, samples, whole } from "./numbers.js";

const OUTSIDE = 1; // d_i of the corners of the domain
const ADVICE_AFTER = 2000; // ms
const ENOUGH = 300_000; // samples; the slowest figure learns its first filter before
const NARROW = 1.5; // times that a width is smaller than the suggested one
const STATES = { running: "Running", paused: "Paused", failed: "Failed" };
const find = (selector) => document.querySelector(selector);

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Text with command-line options as code elements, which do not break at hyphens. */
function withCode(text) {
  return text.split(/(--data [\w-]+|--[\w-]+)/).map((part, k) => {
    return k % 2 ? Object.assign(document.createElement("code"), { textContent: part }) : part;
  });
}

/** {text, action, message to the server} if learning has come to a dead end, otherwise null. */
export function adviceFor(frame, { setup, suggestion, patch }) {
  const restart = { action: "Restart", message: { do: "reset", seed: "same" } };
  const twins = frame.learned.filter((state) => state === 2).length;
  if (twins >= Math.max(3, frame.ids.length / 4)) {
    return { text: `${twins} neurons are equal to others. Equal neurons make equal steps: they stay together at any λ.`, ...restart };
  }
  if (frame.learnedCount > 0) return null;
  if (suggestion && frame.seen >= ENOUGH && suggestion.sigma > NARROW * setup.sigma) {
    const text = `At σ = ${plain(setup.sigma)}, no neuron reaches patches of ${patch[0]} × ${patch[1]}. The width equation gives σ = ${plain(suggestion.sigma)} for them, at λ = ${plain(suggestion.lambda)}.`;
    return { text, action: `Use σ = ${plain(suggestion.sigma)}`, message: { do: "start", setup: suggestion } };
  }
  // A learned filter may be slightly outside, such as that of black patches.
  if (!frame.distance.every((distance) => distance > OUTSIDE)) return null;
  return { text: "All neurons have left the domain of the data and hardly respond to samples. Lower η_μ or change σ.", ...restart };
}

export class Status {
  /** send(message) to the server. */
  constructor(send) {
    this.send = send;
  }

  setScene(scene) {
    this.scene = scene;
    find("#note").replaceChildren(...withCode(scene.note ?? ""));
    find("#note").hidden = !scene.note;
    write(find("#seed"), String(scene.setup.seed));
    document.body.dataset.mode = scene.mode;
    document.body.dataset.rule = scene.setup.clusters ? "automatic" : "given";
    document.body.dataset.colour = (scene.patch?.[2] ?? 1) > 1;
    find("#unpaint").disabled = !scene.painted;
  }

  /** Shows that no frame of this trial has arrived. */
  wait() {
    find("#failed").hidden = true;
    find("#stage").classList.add("waiting");
  }

  show(frame, now) {
    // Without a connection, the state is that of the connection, and older frames do not change it.
    const { connection, state } = document.body.dataset;
    const changed = connection === "open" && frame.state !== state;
    find("#stage").classList.remove("waiting");
    write(find("#learned-count"), String(frame.learnedCount));
    write(find("#neuron-count"), String(frame.ids.length));
    write(find("#status-seen b"), frame.state === "running" ? counted(frame.seen) : whole(frame.seen)); // exact, so that single steps are visible
    write(find("#status-seen span"), samples(frame.seen));
    if (frame.rate !== null) write(find("#status-rate b"), counted(frame.rate)); // null: not measured yet
    this.showAdvice(frame, now);
    const title = `${frame.learnedCount}${this.scene.setup.clusters ? " clusters" : ` of ${frame.ids.length} learned`} · Gaussian Neurons`;
    if (document.title !== title) document.title = title;
    if (changed) this.setState(frame.state);
    find("#failed").hidden = frame.state !== "failed";
    if (frame.state === "failed") write(find("#error"), frame.error ?? "Unknown error.");
  }

  /** Shows what to do if nothing more can be learned, once that has lasted a while: it may follow a removal. */
  showAdvice(frame, now) {
    const advice = frame.state === "failed" ? null : adviceFor(frame, this.scene);
    this.adviceSince = advice ? (this.adviceSince ?? now) : null;
    find("#advice").hidden = !advice || now - this.adviceSince < ADVICE_AFTER;
    if (!advice) return;
    write(find("#advice p"), advice.text);
    write(find("#advice button"), advice.action);
    find("#advice button").onclick = () => this.send(advice.message);
  }

  /** Shows an error that occurred before the first frame. */
  fail(error) {
    find("#stage").classList.remove("waiting");
    find("#failed").hidden = false;
    write(find("#error"), error);
    this.setState("failed");
  }

  setState(state) {
    document.body.dataset.state = state;
    write(find("#state"), STATES[state]);
    const running = state === "running";
    write(find("#pause span"), running ? "Pause" : "Resume");
    find("#pause use").setAttribute("href", running ? "#icon-pause" : "#icon-play");
    find("#pause").title = running ? "Pause (space)" : "Resume (space)";
  }
}

const MANY_FAILURES = 10;
const BANNERS = {
  lost: "Connection lost. Reconnecting …",
  stopped: "Connection lost. Is the server running? Start it with  gaussian-neurons live  and this page reconnects.",
  token: "A token is required. Open the full address that the server printed in its terminal.",
  tabs: "Too many tabs show this run. Close one, and this page connects.",
};

/** Shows the state of the connection: the banner, and the dimmed page. */
export function showConnection(state, failures) {
  const isUsable = state === "open" || state === "connecting";
  document.body.dataset.connection = state;
  const banner = find("#banner");
  if (!isUsable) write(banner.querySelector("span"), BANNERS[state === "lost" && failures >= MANY_FAILURES ? "stopped" : state]);
  banner.hidden = isUsable;
  if (state === "open") return; // the next frame shows the state
  document.body.dataset.state = state;
  write(find("#state"), state === "connecting" ? "Connecting" : "Not connected");
}
