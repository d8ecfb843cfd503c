// Keyboard shortcuts of the whole page.

const BY_KEY = { " ": "pause", ".": "step", r: "again", n: "newSeed", "+": "add", "?": "help" };

/** Where letters are written, or chosen by, a shortcut must not fire. Sliders take arrows only, so they do not count. */
function isTyping(target) {
  return target.isContentEditable || target.matches("select, textarea, input:not([type=range])");
}

let byKey = false; // whether what has the focus was reached with the keyboard

/** Keeps `byKey`. (:focus-visible cannot tell: it holds for a clicked button, too, as soon as a key is pressed.) */
function followFocus() {
  let lastByKey = false;
  let last = null;
  const note = (isKey) => (lastByKey = isKey);
  document.addEventListener("keydown", () => note(true), true);
  document.addEventListener("pointerdown", () => (byKey = note(false)), true);
  document.addEventListener(
    "focusin",
    ({ target }) => {
      if (target !== last) byKey = lastByKey; // the same again: the window was left and has come back
      last = target;
    },
    true,
  );
}

/**
 * Space presses a button that was reached with the keyboard. After a click it pauses, as everywhere: nobody means
 * the button that happens to have the focus. On filters it always pauses, there it would remove.
 */
function isPressed(target) {
  return byKey && target.matches("button:not(.filter), summary");
}

/** actions: {pause, step, again, newSeed, add, help}, functions without arguments. */
export function listenForKeys(actions) {
  followFocus();
  let spaceIsOurs = false;
  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!(target instanceof Element) || isTyping(target) || document.querySelector("dialog[open]")) return;
    if (key === " " && !event.repeat) spaceIsOurs = !isPressed(target);
    if (key === " " && !spaceIsOurs) return;
    const action = actions[BY_KEY[key.length === 1 ? key.toLowerCase() : key]];
    if (!action) return;
    event.preventDefault();
    if (!event.repeat) action();
  });
  // A button is pressed by space when the key comes up: it must not be by what paused the run.
  document.addEventListener("keyup", (event) => {
    if (event.key !== " ") return;
    if (spaceIsOurs) event.preventDefault();
    spaceIsOurs = false;
  });
}
