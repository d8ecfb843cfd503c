// The status line, the title and hint of the preset, and the messages that cover the stage.

import { counted, samples, whole } from "./numbers.js";
import { capital } from "./states.js";

const EVERY = 100; // ms between changes of the numbers
const OUTSIDE = 1; // d_i of the corners of the domain
const OUTSIDE_FOR = 3000; // ms
const STATES = { running: "Running", paused: "Paused", failed: "Failed" };
const find = (selector) => document.querySelector(selector);

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The title of the preset that the run started with; `current` is the preset with the current settings. */
function titleOf({ name, label, title }, current) {
  return `${name === current ? "" : "Started as "}${label}. ${capital(title)}`;
}

/** Text with command-line options as code elements, which do not break at hyphens. */
function withCode(text) {
  return text.split(/(--data [\w-]+|--[\w-]+)/).map((part, k) => {
    return k % 2 ? Object.assign(document.createElement("code"), { textContent: part }) : part;
  });
}

export class Status {
  constructor() {
    this.shownAt = -Infinity;
    this.presets = [];
    this.preset = null;
    this.note = null;
  }

  setScene(scene) {
    const preset = this.presetOf(scene);
    write(find("#figure-title"), preset ? titleOf(preset, scene.preset) : "");
    write(find("#figure-hint"), preset?.hint ? preset.hint : "");
    find("#figure-info").hidden = !preset;
    find("#note").replaceChildren(...withCode(this.note ?? ""));
    find("#note").hidden = !this.note;
    write(find("#data-facts"), scene.data ?? "");
    find("#data-facts").hidden = scene.data === find("#data").selectedOptions[0]?.text; // shown already
    write(find("#seed"), String(scene.setup.seed));
    document.body.dataset.mode = scene.mode;
    document.body.dataset.colour = (scene.patch?.[2] ?? 1) > 1;
    find("#unpaint").disabled = !scene.painted;
  }

  /** The preset that this trial started with. Its hint stays when settings are changed. */
  presetOf({ run, generation, preset, note }) {
    const trial = `${run} ${generation}`;
    if (trial !== this.trial) this.preset = this.note = null;
    this.trial = trial;
    this.preset = preset ?? this.preset;
    this.note = note ?? this.note; // about the data, which does not change
    return this.presets.find(({ name }) => name === this.preset);
  }

  /** Shows that no frame of this trial has arrived. */
  wait() {
    this.shownAt = -Infinity;
    find("#failed").hidden = true;
    find("#stage").classList.add("waiting");
  }

  show(frame, now) {
    // Without a connection, the state is that of the connection, and older frames do not change it.
    const { connection, state } = document.body.dataset;
    const changed = connection === "open" && frame.state !== state;
    // During a pause every frame is shown, because no other may follow.
    if (!changed && frame.state === "running" && now - this.shownAt < EVERY) return;
    this.shownAt = now;
    find("#stage").classList.remove("waiting");
    write(find("#learned-count"), String(frame.learnedCount));
    write(find("#neuron-count"), String(frame.ids.length));
    write(find("#status-seen b"), frame.state === "running" ? counted(frame.seen) : whole(frame.seen)); // exact, so that single steps are visible
    write(find("#status-seen span"), samples(frame.seen));
    if (frame.rate !== null) write(find("#status-rate b"), counted(frame.rate)); // null: not measured yet
    // A learned filter may be slightly outside, such as that of black patches.
    const allOutside = frame.learnedCount === 0 && frame.distance.every((distance) => distance > OUTSIDE);
    this.outsideSince = allOutside ? (this.outsideSince ?? now) : null; // a short time may follow a removal
    find("#all-outside").hidden = frame.state === "failed" || !allOutside || now - this.outsideSince < OUTSIDE_FOR;
    const title = `${frame.learnedCount} of ${frame.ids.length} learned · Gaussian Neurons`;
    if (document.title !== title) document.title = title;
    if (changed) this.setState(frame.state);
    find("#failed").hidden = frame.state !== "failed";
    if (frame.state === "failed") write(find("#error"), frame.error ?? "Unknown error.");
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
