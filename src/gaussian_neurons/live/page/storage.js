// What a browser remembers for us, where it may: of this tab ("sessionStorage") or of all ("localStorage").

export function remembered(storage, name) {
  try {
    return window[storage].getItem(name);
  } catch {
    return null; // it may be forbidden
  }
}

export function remember(storage, name, text) {
  try {
    window[storage].setItem(name, text);
  } catch {
    // It is forgotten then.
  }
}
