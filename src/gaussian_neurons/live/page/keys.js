// Keyboard shortcuts of the whole page.

const BY_KEY = { " ": "pause", ".": "step", r: "again", n: "newSeed", "+": "add", "?": "help", p: "present" };

/** Whether an element uses letter keys itself. Sliders use arrow keys only. */
function isTyping(target) {
  return target.isContentEditable || target.matches("select, textarea, input:not([type=range])");
}

/** A click on a button leaves the focus where no key presses it: after a click, space pauses the run. */
function clicksWithoutFocus(event) {
  if (!event.target.closest?.("button, summary")) return;
  event.preventDefault();
  document.activeElement?.blur();
}

/** Ctrl+Z undoes the last action of the run. In a text field with unsent text, the browser undoes typing. */
function undoAction({ key, ctrlKey, metaKey, altKey, shiftKey, target }) {
  if (!(ctrlKey || metaKey) || altKey) return null;
  if (target instanceof HTMLInputElement && target.value !== target.defaultValue) return null;
  const letter = key.toLowerCase();
  if (letter === "z") return shiftKey ? "redo" : "undo";
  return letter === "y" ? "redo" : null;
}

/** actions: {pause, step, again, newSeed, add, help, present, undo, redo}, functions without arguments. */
export function listenForKeys(actions) {
  document.addEventListener("mousedown", clicksWithoutFocus);
  let spacePauses = false;
  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    const undo = undoAction(event);
    if (undo && !document.querySelector("dialog[open]")) {
      event.preventDefault();
      return actions[undo]();
    }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!(target instanceof Element) || isTyping(target) || document.querySelector("dialog[open]")) return;
    // Space presses a button that was reached with the keyboard. On filters it pauses: pressing removes them.
    if (key === " " && !event.repeat) spacePauses = !target.matches("button:not(.filter), summary");
    if (key === " " && !spacePauses) return;
    const action = actions[BY_KEY[key.length === 1 ? key.toLowerCase() : key]];
    if (!action) return;
    event.preventDefault();
    if (!event.repeat) action();
  });
  // Browsers press a button when space is released. A space that paused the run must not press it.
  document.addEventListener("keyup", (event) => {
    if (event.key !== " ") return;
    if (spacePauses) event.preventDefault();
    spacePauses = false;
  });
}
