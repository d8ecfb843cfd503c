// Wires the page together: messages in, pictures out, what the user does back to the server.

import { watchTheme } from "./canvas_theme.js";
import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { Curves } from "./curves.js";
import { Filters } from "./filters.js";
import { belongs, decode, isSameStart } from "./frames.js";
import { Inspector } from "./inspector.js";
import { listenForKeys } from "./keys.js";
import { Address, readLink } from "./link.js";
import { Plane } from "./plane.js";
import { SampleStrip } from "./samples.js";
import { ask, closeDialogsOutside, Sharing } from "./sharing.js";
import { showConnection, Status } from "./status.js";
import { remember, remembered } from "./storage.js";
import { startTheme } from "./theme.js";
import { Toasts } from "./toasts.js";

const CURVE_EVERY = 250; // ms between points of the curves
const RUN = "gaussian-neurons-run"; // which was watched, for this tab alone
const NOISE_POINTS = 200;
const SURFACE_OF = { "one-sample": "sample" }; // Figure 1 is the surface: there it is shown from the start
const SMALL = matchMedia("(max-width: 1099px)"); // as in style.css
const find = (selector) => document.querySelector(selector);

// What is known: the last scene and the last frame. Older frames are never kept.
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

/** Sends a message; without a connection the banner has said so already. */
const send = (message) => connection.send(message);
/** About a neuron or a place: of this start, since with the next there are others. */
const about = (message) => send({ ...message, generation: page.scene?.generation });
const look = (id) => {
  inspector.look(id);
  filters.mark(id);
  draw();
};

const remove = (neuron) => {
  if (filters.leaving.has(neuron) || !about({ do: "remove", neuron })) return;
  if (inspector.id === neuron) look(null);
  if (page.scene.mode === "image") filters.leave(neuron);
};

const controls = new Controls({ send, onProblem: (text) => toasts.show(text, "error") });
const filters = new Filters(find("#filters"), find("#show"), { onLook: look, onRemove: remove });
const strip = new SampleStrip(find("#samples"));
const curves = new Curves({ learned: find("#curve-learned"), cost: find("#curve-cost"), rate: find("#curve-rate") });
const inspector = new Inspector(find("#inspector"), {
  onAsk: (neuron) => about({ do: "look", neuron }),
  onRemove: remove,
  onClose: () => {
    plane.select(null);
    look(null);
  },
});
const plane = new Plane(find("#plane"), {
  onMove: (neuron, to) => about({ do: "move", neuron, to }),
  onRelease: () => send({ do: "release" }),
  onPaint: (points) => about({ do: "paint", points }),
  onRemove: remove,
  onAdd: (at) => send(at ? { do: "add", count: 1, at } : { do: "add", count: 1 }),
  onLook: look,
});

/** The first message: the link's setup once, afterwards what the address says, so that a new server carries on. */
function hello() {
  const first = !page.loaded;
  page.loaded = true;
  if (!first && page.scene) address.write();
  const { setup, preset } = first ? link : readLink(location.search);
  // Loaded again, a page goes on watching: its address is no wish, and may be older than the last change.
  if (first && performance.getEntriesByType("navigation")[0]?.type === "reload") page.run = remembered("sessionStorage", RUN);
  const isLink = first && setup !== null && page.run === null;
  return { do: "hello", setup, preset, link: isLink, run: page.run, paused: page.frame?.state === "paused" };
}

const onText = {
  welcome(message) {
    page.run = message.run;
    remember("sessionStorage", RUN, message.run);
    status.presets = message.presets;
    controls.setWelcome(message);
  },
  scene(scene) {
    const isNew = !isSameStart(scene, page.scene);
    const isOther = scene.setup.data !== page.scene?.setup.data;
    const surface = (!page.scene && link.surface) || usualSurface(scene);
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
      plane.letGo();
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
    filters.comeBack();
  },
  failed({ trouble }) {
    // The last frame, but stopped: whatever comes after it tells the truth again.
    if (page.frame) page.frame = { ...page.frame, state: "failed", trouble, rate: 0 };
    else status.fail(trouble);
    draw();
  },
  question({ setup, preset }) {
    ask(() => send({ do: "start", setup, preset }));
  },
};

function onBinary(message) {
  if (message.generation !== page.scene?.generation) return;
  if (message.kind === "look") inspector.showPatches(message);
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

/** Draws once in the next animation frame, whatever has arrived until then. */
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
  if (inspector.id === null) filters.mark(null);
  controls.showCount(frame.ids.length);
  addToCurves(frame, now);
}

/** A point now and then; the one where it rests always, since the line above the stage tells the same numbers. */
function addToCurves(frame, now) {
  const told = [frame.seen, frame.learnedCount, frame.cost].join();
  const isRunning = frame.state === "running";
  if (frame.seen === 0) return; // nothing is known yet
  if (told === page.curvedTo || (isRunning && now - page.curvedAt < CURVE_EVERY)) return;
  page.curvedAt = now;
  page.curvedTo = told;
  if (isRunning) page.rate = frame.rate ?? page.rate; // at rest there is none: single steps go on with the last one
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

function wireButtons() {
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

const usualSurface = ({ setup }) => SURFACE_OF[setup.data] ?? "off";

function showSurface(which) {
  find("#surface").value = which;
  plane.setSurface(which);
  draw();
}

function showAddress() {
  const { scene } = page;
  const surface = find("#surface").value;
  const isChosen = scene.mode === "plane" && surface !== usualSurface(scene);
  address.show(scene.setup, scene.preset, isChosen ? surface : null);
}

function setTool(tool) {
  plane.setTool(tool);
  for (const other of ["drag", "paint"]) find(`#tool-${other}`).setAttribute("aria-pressed", other === tool);
  draw();
}

// For the console and for tests: what the page knows just now.
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
  strip.forgetColours();
  draw();
});
listenForKeys(actions);
closeDialogsOutside();
wireButtons();
// On a small screen the facts lie above the settings, and make room for who wants to change one.
find(".controls").addEventListener("pointerenter", () => SMALL.matches && look(null));
for (const problem of link.problems) toasts.show(problem, "error");
connection.open();
