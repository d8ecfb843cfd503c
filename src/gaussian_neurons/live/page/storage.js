// The browser's storage, which may be blocked: "sessionStorage" for this tab, "localStorage" for all tabs.

export function readStorage(storage, name) {
  try {
    return window[storage].getItem(name);
  } catch {
    return null;
  }
}

export function writeStorage(storage, name, text) {
  try {
    window[storage].setItem(name, text);
  } catch {
    // Blocked: the value is not kept.
  }
}
