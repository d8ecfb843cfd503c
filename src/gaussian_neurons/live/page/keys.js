// Keyboard shortcuts of the whole page.

const BY_KEY = { " ": "pause", ".": "step", r: "again", n: "newSeed", "+": "add", "?": "help" };

/** Where letters are written, or chosen by, a shortcut must not fire. Sliders take arrows only, so they do not count. */
function isTyping(target) {
  return target.isContentEditable || target.matches("select, textarea, input:not([type=range])");
}

/** The space key already presses what is focused; filters are the exception, there it would remove. */
function isPressed(target) {
  return target.matches("button:not(.filter), a, summary");
}

/** actions: {pause, step, again, newSeed, add, help}, functions without arguments. */
export function listenForKeys(actions) {
  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (!(target instanceof Element) || isTyping(target) || document.querySelector("dialog[open]")) return;
    if (key === " " && isPressed(target)) return;
    const action = actions[BY_KEY[key.length === 1 ? key.toLowerCase() : key]];
    if (!action) return;
    event.preventDefault();
    action();
  });
  // A button is pressed by space when the key comes up: a filter must not be removed by what paused the run.
  document.addEventListener("keyup", (event) => {
    if (event.key === " " && event.target instanceof Element && event.target.matches(".filter")) event.preventDefault();
  });
}
