// Connects the parts of the page: messages from the server, drawing, and actions of the user.

import { watchTheme } from "./canvas_theme.js";
import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { Curves } from "./curves.js";
import { Filters } from "./filters.js";
import { belongs, decode, isSameTrial } from "./frames.js";
import { Inspector } from "./inspector.js";
import { listenForKeys } from "./keys.js";
import { Address, readLink } from "./link.js";
import { Plane } from "./plane.js";
import { SampleStrip } from "./samples.js";
import { closeDialogsOutside, confirmLink, Sharing } from "./sharing.js";
import { showConnection, Status } from "./status.js";
import { readStorage, writeStorage } from "./storage.js";
import { startTheme } from "./theme.js";
import { Toasts } from "./toasts.js";

const CURVE_EVERY = 250; // ms between two points of a curve
const RUN = "gaussian-neurons-run"; // storage key of the run that this tab showed
const NOISE_POINTS = 200;
const DEFAULT_SURFACE = { "one-sample": "sample" }; // Figure 1 shows the surface
const SMALL = matchMedia("(max-width: 1099px)"); // as in layout.css
const find = (selector) => document.querySelector(selector);

// The last scene and the last frame. Older frames are not kept.
const page = { scene: null, frame: null, run: null, dirty: false, loaded: false, curvedAt: 0, curvedTo: null, rate: null };
const link = readLink(location.search);
const toasts = new Toasts(find("#toasts"));
const status = new Status();
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
  if (filters.hidden.has(neuron) || !sendAbout({ do: "remove", neuron })) return;
  if (inspector.id === neuron) inspect(null);
  if (page.scene.mode === "image") filters.hide(neuron);
};

const controls = new Controls({ send, onProblem: (text) => toasts.show(text, "error") });
const filters = new Filters(find("#filters"), find("#show"), { onInspect: inspect, onRemove: remove });
const strip = new SampleStrip(find("#samples"));
const curves = new Curves({ learned: find("#curve-learned"), cost: find("#curve-cost"), rate: find("#curve-rate") });
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
    status.presets = message.presets;
    controls.setWelcome(message);
  },
  scene(scene) {
    const isNew = !isSameTrial(scene, page.scene);
    const isOther = scene.setup.data !== page.scene?.setup.data;
    const surface = (!page.scene && link.surface) || defaultSurface(scene);
    page.scene = scene;
    if (isNew) {
      Object.assign(page, { frame: null, rate: null, curvedTo: null });
      status.wait();
    }
    showMode(scene.mode);
    controls.setScene(scene);
    status.setScene(scene);
    inspector.setScene(scene);
    if (scene.mode === "plane") {
      plane.setScene(scene);
    } else {
      filters.setScene(scene);
      plane.cancelPointer();
    }
    if (isOther && scene.mode === "plane") showSurface(surface);
    showAddress();
    draw();
  },
  history({ points, marks }) {
    curves.reset(points, marks);
    page.curvedTo = null;
    draw();
  },
  mark({ seen, text, replaces }) {
    curves.mark(seen, text, replaces);
    draw();
  },
  notice({ level, text }) {
    toasts.show(text, level);
    if (level !== "error") return;
    controls.restore();
    filters.unhide();
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
  if (message.generation !== page.scene?.generation) return;
  if (message.kind === "inspect") inspector.showPatches(message);
  if (message.kind === "points") plane.setPoints(message);
  if (message.kind === "frame" && belongs(message, page.scene)) {
    page.frame = message;
    if (page.scene.mode === "plane") plane.setFrame(message);
  }
  draw();
}

function showMode(mode) {
  for (const element of document.querySelectorAll("[data-only]")) element.hidden = element.dataset.only !== mode;
}

/** Requests one drawing in the next animation frame. */
function draw() {
  if (page.dirty) return;
  page.dirty = true;
  requestAnimationFrame((now) => {
    page.dirty = false;
    const { frame, scene } = page;
    if (frame && scene) drawFrame(frame, scene, now);
    if (scene?.mode === "plane") plane.draw();
    curves.draw();
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
}

/** Adds a point at intervals, and always the last one before a pause, so that curves and status line agree. */
function addToCurves(frame, now) {
  const key = [frame.seen, frame.learnedCount, frame.cost].join();
  const isRunning = frame.state === "running";
  if (frame.seen === 0) return; // no values yet
  if (key === page.curvedTo || (isRunning && now - page.curvedAt < CURVE_EVERY)) return;
  page.curvedAt = now;
  page.curvedTo = key;
  if (isRunning) page.rate = frame.rate ?? page.rate; // single steps have no rate: keep the last one
  curves.add(frame.seen, frame.learnedCount, frame.cost, page.rate);
}

const actions = {
  pause: () => send({ do: page.frame?.state === "running" ? "pause" : "resume" }),
  step: () => send({ do: "step" }),
  again: () => send({ do: "reset", seed: "same" }),
  newSeed: () => send({ do: "reset", seed: "new" }),
  add: () => send({ do: "add", count: 1 }),
  help: () => find("#keys-dialog").showModal(),
};

function connectButtons() {
  const buttons = {
    pause: actions.pause, step: actions.step, again: actions.again, "new-seed": actions.newSeed, add: actions.add,
    help: actions.help, "failed-again": actions.again, "failed-seed": actions.newSeed,
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

const defaultSurface = ({ setup }) => DEFAULT_SURFACE[setup.data] ?? "off";

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

// For the console and for tests.
window.gaussianNeurons = {
  get scene() { return page.scene; },
  get frame() { return page.frame; },
  get connection() { return connection.state; },
};

const shown = {
  get scene() { return page.scene; },
  get frame() { return page.frame; },
  get columns() { return filters.columns; },
  plane,
  address,
};

new Sharing(shown, connection, toasts);
startTheme(find("#theme"));
watchTheme(() => {
  strip.resetColours();
  draw();
});
listenForKeys(actions);
closeDialogsOutside();
connectButtons();
// On a small screen the inspector covers the settings: close it when the pointer enters them.
find(".controls").addEventListener("pointerenter", () => SMALL.matches && inspect(null));
for (const problem of link.problems) toasts.show(problem, "error");
connection.open();
