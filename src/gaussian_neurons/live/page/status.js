// The line above the stage, the story of the preset, and what covers the stage when there is nothing to see.

import { counted, samples, whole } from "./numbers.js";
import { capital } from "./states.js";

const EVERY = 100; // ms between changes of the numbers
const OUTSIDE = 1; // d_i of the corners
const OUT_FOR = 3000; // ms
const STATES = { running: "Running", paused: "Paused", failed: "Stopped" };
const find = (selector) => document.querySelector(selector);

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** What the run is, or once was: a setting that has changed since makes it one's own. */
function titleOf({ name, label, title }, now) {
  return `${name === now ? "" : "Began as "}${label}. ${capital(title)}`;
}

/** Text with options of the command, which must not break at their hyphens, as code. */
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
    const preset = this.storyOf(scene);
    write(find("#story-title"), preset ? titleOf(preset, scene.preset) : "");
    write(find("#story-hint"), preset?.hint ? preset.hint : "");
    find("#story").hidden = !preset;
    find("#note").replaceChildren(...withCode(this.note ?? ""));
    find("#note").hidden = !this.note;
    write(find("#data-facts"), scene.data ?? "");
    find("#data-facts").hidden = scene.data === find("#data").selectedOptions[0]?.text; // once is enough
    write(find("#seed"), String(scene.setup.seed));
    document.body.dataset.mode = scene.mode;
    document.body.dataset.colour = (scene.patch?.[2] ?? 1) > 1;
    find("#unpaint").disabled = !scene.painted;
  }

  /** The preset that this run began with: its story asks to move a slider, and must not vanish when one does. */
  storyOf({ run, generation, preset, note }) {
    const began = `${run} ${generation}`;
    if (began !== this.began) this.preset = this.note = null;
    this.began = began;
    this.preset = preset ?? this.preset;
    this.note = note ?? this.note; // of the data, which stay
    return this.presets.find(({ name }) => name === this.preset);
  }

  /** Nothing has come yet of this run. */
  wait() {
    this.shownAt = -Infinity;
    find("#failed").hidden = true;
    find("#stage").classList.add("waiting");
  }

  show(frame, now) {
    // A lost connection changes the state, too, and a frame that came before it says nothing against that.
    const { connection, state } = document.body.dataset;
    const changed = connection === "open" && frame.state !== state;
    // At rest each frame is shown, since no other may follow.
    if (!changed && frame.state === "running" && now - this.shownAt < EVERY) return;
    this.shownAt = now;
    find("#stage").classList.remove("waiting");
    write(find("#learned-count"), String(frame.learnedCount));
    write(find("#neuron-count"), String(frame.ids.length));
    write(find("#status-seen b"), frame.state === "running" ? counted(frame.seen) : whole(frame.seen)); // a step is seen
    write(find("#status-seen span"), samples(frame.seen));
    if (frame.rate !== null) write(find("#status-rate b"), counted(frame.rate)); // null: not measured yet
    // A learned filter may lie a little outside, as that of black patches does.
    const allOut = frame.learnedCount === 0 && frame.distance.every((distance) => distance > OUTSIDE);
    this.outSince = allOut ? (this.outSince ?? now) : null; // for a moment, it may be that the learned ones were removed
    find("#all-out").hidden = frame.state === "failed" || !allOut || now - this.outSince < OUT_FOR;
    const title = `${frame.learnedCount} of ${frame.ids.length} learned · Gaussian Neurons`;
    if (document.title !== title) document.title = title;
    if (changed) this.setState(frame.state);
    find("#failed").hidden = frame.state !== "failed";
    if (frame.state === "failed") write(find("#trouble"), frame.trouble ?? "The numbers ran away.");
  }

  /** The program failed before there was anything to show. */
  fail(trouble) {
    find("#stage").classList.remove("waiting");
    find("#failed").hidden = false;
    write(find("#trouble"), trouble);
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

const HOPELESS = 10; // tries
const BANNERS = {
  lost: "Connection lost. Trying again …",
  hopeless: "Connection lost. Is the server still running? Start it with  gaussian-neurons live  and this page carries on.",
  token: "This server asks for a token. Open the full link that it printed in the terminal when it started.",
  tabs: "Too many tabs watch this run. Close one of them; this page then carries on.",
};

/** Connected or not: the banner, and whether the page is dimmed. */
export function showConnection(state, failures) {
  const isHere = state === "open" || state === "connecting";
  document.body.dataset.connection = state;
  const banner = find("#banner");
  if (!isHere) write(banner.querySelector("span"), BANNERS[state === "lost" && failures >= HOPELESS ? "hopeless" : state]);
  banner.hidden = isHere;
  if (state === "open") return; // the next frame tells
  document.body.dataset.state = state;
  write(find("#state"), state === "connecting" ? "Connecting" : "Not connected");
}
