// Connects the parts of the page: messages from the server, drawing, and actions of the user.

import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { Curves } from "./curves.js";
import { Filters } from "./filters.js";
import { decode, isSameTrial } from "./frames.js";
import { Gallery } from "./gallery.js";
import { Inspector } from "./inspector.js";
import { listenForKeys } from "./keys.js";
import { Address, readLink } from "./link.js";
import { Plane } from "./plane.js";
import { SampleStrip } from "./samples.js";
import { closeDialogsOutside, confirmLink, Sharing } from "./sharing.js";
import { showConnection, Status } from "./status.js";
import { readStorage, writeStorage } from "./storage.js";
import { Story } from "./story.js";
import { Toasts } from "./toasts.js";
import { Tour } from "./tour.js";

const CURVE_EVERY = 250; // ms between two points of a curve
const RUN = "gaussian-neurons-run"; // storage key of the run that this tab showed
const NOISE_POINTS = 200;
const DEFAULT_SURFACE = { "one-sample": "sample" }; // Figure 1 shows the surface
const SMALL = matchMedia("(max-width: 1099px)"); // as in layout.css
const find = (selector) => document.querySelector(selector);

// The last scene and the last frame, and the frame that is drawn. Older frames are not kept.
const page = { scene: null, frame: null, drawn: null, run: null, dirty: false, loaded: false, curvedAt: 0, offered: false };
const link = readLink(location.search);
const toasts = new Toasts(find("#toasts"));
const status = new Status((message) => send(message));
const address = new Address();
const connection = new Connection(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live`, {
  hello,
  onText: (message) => onText[message.type]?.(message),
  onBinary: (buffer) => onBinary(decode(buffer)),
  onState: showConnection,
});

/** Sends a message. Without a connection, the banner is shown already. */
const send = (message) => connection.send(message);
/** Sends a message about a neuron or a position of this trial; the server ignores it after a restart. */
const sendAbout = (message) => send({ ...message, generation: page.scene?.generation });
const inspect = (id) => {
  inspector.inspect(id);
  filters.highlight(id);
  draw();
};

const remove = (neuron) => {
  if (sendAbout({ do: "remove", neuron }) && inspector.id === neuron) inspect(null);
};

const controls = new Controls({ send, onProblem: (text) => toasts.show(text, "error") });
const filters = new Filters(find("#filters"), find("#show"), { onInspect: inspect, onRemove: remove });
const gallery = new Gallery(send);
const strip = new SampleStrip(find("#samples"));
const curves = new Curves({ learned: find("#curve-learned"), cost: find("#curve-cost"), moved: find("#curve-moved"), scores: find("#curve-scores") });
const inspector = new Inspector(find("#inspector"), {
  onRequest: (neuron) => sendAbout({ do: "inspect", neuron }),
  onRemove: remove,
  onClose: () => {
    plane.select(null);
    inspect(null);
  },
});
const plane = new Plane(find("#plane"), {
  onMove: (neuron, to) => sendAbout({ do: "move", neuron, to }),
  onRelease: () => send({ do: "release" }),
  onPaint: (points) => sendAbout({ do: "paint", points }),
  onRemove: remove,
  onAdd: (at) => send(at ? { do: "add", count: 1, at } : { do: "add", count: 1 }),
  onInspect: inspect,
});

const isPlane = () => page.scene?.mode === "plane";
const story = new Story(find("#story"), {
  from: ({ old, new: id, place }) => (isPlane() ? plane.pixelOf(plane.neurons.placeAtRemoval(old, id) ?? place) : filters.slotOf(old)),
  to: ({ new: id }) => (isPlane() ? plane.pixelOfNeuron(id) : filters.slotOf(id)),
});
const tour = new Tour(find("#tour"), { send: (message) => send(message), showSteps: (parts) => plane.showSteps(parts) });

/** The tour starts with its link, or on the first page of a fresh run of the default data. */
function offerTour(frame, scene) {
  if (page.offered) return;
  page.offered = true;
  const isFresh = link.setup === null && Tour.isNew && frame.seen === 0 && frame.state === "paused" && scene.setup.data === "mixture";
  if (link.tour || isFresh) tour.start();
}

/** The first message of a connection: the link's setup at first, later the setup in the address, for a new server. */
function hello() {
  const first = !page.loaded;
  page.loaded = true;
  if (!first && page.scene) address.write();
  const { setup, preset } = first ? link : readLink(location.search);
  // A reloaded page continues to show its run: its address is not a link, and may be older than the last change.
  if (first && performance.getEntriesByType("navigation")[0]?.type === "reload") page.run = readStorage("sessionStorage", RUN);
  const isLink = first && setup !== null && page.run === null;
  return { do: "hello", setup, preset, link: isLink, run_name: page.run, paused: page.frame?.state === "paused" };
}

const onText = {
  welcome(message) {
    page.run = message.run;
    writeStorage("sessionStorage", RUN, message.run);
    gallery.setWelcome(message);
  },
  scene(scene) {
    const isNew = !isSameTrial(scene, page.scene);
    const isOther = scene.setup.data !== page.scene?.setup.data;
    const surface = (!page.scene && link.surface) || defaultSurface(scene);
    page.scene = scene;
    if (isNew) {
      story.end();
      page.frame = page.drawn = null;
      status.wait();
    }
    showMode(scene.mode);
    for (const name of ["undo", "redo"]) showUndo(find(`#${name}`), scene[name]);
    controls.setScene(scene);
    gallery.setScene(scene);
    status.setScene(scene);
    inspector.setScene(scene);
    if (scene.mode === "plane") {
      plane.setScene(scene);
    } else {
      filters.setScene(scene);
      plane.cancelPointer();
    }
    if ((isOther || scene.setup.clusters) && scene.mode === "plane") showSurface(surface);
    showAddress();
    draw();
  },
  history({ points, marks }) {
    curves.reset(points, marks);
    draw();
  },
  mark({ seen, text, replaces }) {
    curves.mark(seen, text, replaces);
    draw();
  },
  relearned(message) {
    tour.show(page.frame, "relearned");
    story.tell(message);
  },
  notice({ text }) {
    toasts.show(text, "error");
    controls.restore();
  },
  failed({ error }) {
    // The last frame, marked as failed until another arrives.
    if (page.frame) page.frame = { ...page.frame, state: "failed", error, rate: 0 };
    else status.fail(error);
    draw();
  },
  question({ setup, preset }) {
    confirmLink(() => send({ do: "start", setup, preset }));
  },
};

function onBinary(message) {
  if (message.generation !== page.scene?.generation) return; // of the old trial
  if (message.kind === "inspect") inspector.showPatches(message);
  if (message.kind === "points") plane.setPoints(message);
  if (message.kind === "frame") {
    page.frame = message;
    if (page.scene.mode === "plane") plane.setFrame(message);
  }
  draw();
}

function showMode(mode) {
  for (const element of document.querySelectorAll("[data-only]")) element.hidden = element.dataset.only !== mode;
}

/** `action`: what the button undoes or redoes, or null. */
function showUndo(button, action) {
  button.disabled = action === null;
  const name = button.id === "undo" ? "Undo" : "Redo";
  button.setAttribute("aria-label", action === null ? name : `${name}: ${action}`);
  button.title = `${button.getAttribute("aria-label")} (Ctrl+${button.id === "undo" ? "" : "Shift+"}Z)`;
}

/** Requests one drawing in the next animation frame. */
function draw() {
  if (page.dirty) return;
  page.dirty = true;
  requestAnimationFrame((now) => {
    page.dirty = false;
    const { frame, scene } = page;
    if (frame && scene) drawFrame(frame, scene, now);
    if (frame && scene) offerTour(frame, scene);
    if (frame) tour.show(frame);
    story.draw();
    if (scene?.mode === "plane") plane.draw();
    curves.draw();
    page.drawn = frame;
  });
}

function drawFrame(frame, scene, now) {
  status.show(frame, now);
  if (scene.mode === "image") {
    filters.show(frame);
    strip.show(frame, scene.patch, now);
  }
  inspector.show(frame, now);
  if (inspector.id === null) filters.highlight(null);
  controls.showCount(frame.ids.length);
  addToCurves(frame, now);
  if (frame.scores) curves.setScores(frame.scores);
}

/** The curves end at the frame. At intervals, their end becomes a point that stays. */
function addToCurves(frame, now) {
  if (frame.seen === 0) return; // no values yet
  const stays = now - page.curvedAt > CURVE_EVERY;
  if (stays) page.curvedAt = now;
  curves.add([frame.seen, frame.learnedCount, frame.cost, frame.moved], stays);
}

const actions = {
  pause: () => send({ do: page.frame?.state === "running" ? "pause" : "resume" }),
  step: () => send({ do: "step" }),
  again: () => send({ do: "reset", seed: "same" }),
  newSeed: () => send({ do: "reset", seed: "new" }),
  add: () => send({ do: "add", count: 1 }),
  undo: () => send({ do: "undo" }),
  redo: () => send({ do: "redo" }),
  present: () => (document.documentElement.dataset.size = document.documentElement.dataset.size === "large" ? "" : "large"),
  help: () => find("#keys-dialog").showModal(),
};

function connectButtons() {
  const buttons = {
    pause: actions.pause, step: actions.step, again: actions.again, "new-seed": actions.newSeed, add: actions.add,
    "start-tour": () => tour.start(), present: actions.present, undo: actions.undo, redo: actions.redo, help: actions.help, "failed-again": actions.again, "failed-seed": actions.newSeed,
    "noise-points": () => send({ do: "noise", count: NOISE_POINTS }),
    unpaint: () => send({ do: "unpaint" }),
    "try-now": () => connection.tryNow(),
  };
  for (const [id, action] of Object.entries(buttons)) find(`#${id}`).addEventListener("click", action);
  for (const tool of ["drag", "paint"]) find(`#tool-${tool}`).addEventListener("click", () => setTool(tool));
  find("#surface").addEventListener("change", ({ target }) => {
    showSurface(target.value);
    if (page.scene) showAddress();
  });
}

const defaultSurface = ({ setup }) => (!setup.clusters && DEFAULT_SURFACE[setup.data]) || "off";

function showSurface(which) {
  find("#surface").value = which;
  plane.setSurface(which);
  draw();
}

function showAddress() {
  const { scene } = page;
  const surface = find("#surface").value;
  const isChosen = scene.mode === "plane" && surface !== defaultSurface(scene);
  address.show(scene.setup, scene.preset, isChosen ? surface : null);
}

function setTool(tool) {
  plane.setTool(tool);
  for (const other of ["drag", "paint"]) find(`#tool-${other}`).setAttribute("aria-pressed", other === tool);
  draw();
}

// For the console and for tests: the frame is the one that is drawn.
window.gaussianNeurons = {
  get scene() { return page.scene; },
  get frame() { return page.drawn; },
  get connection() { return connection.state; },
  send,
};

const shown = {
  get scene() { return page.scene; },
  get frame() { return page.frame; },
  get columns() { return filters.columns; },
  get slots() { return filters.slots.ids; },
  plane,
  address,
};

new Sharing(shown, connection, toasts);
listenForKeys(actions);
closeDialogsOutside();
connectButtons();
// On a small screen the inspector covers the data: close it when the pointer enters them.
find(".data").addEventListener("pointerenter", () => SMALL.matches && inspect(null));
for (const problem of link.problems) toasts.show(problem, "error");
connection.open();
