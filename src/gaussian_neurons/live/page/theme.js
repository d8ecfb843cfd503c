// Light, dark, or as the system says; remembered where the browser lets us.

const KEY = "gaussian-neurons-theme";
const THEMES = ["auto", "light", "dark"];

function remembered() {
  try {
    const theme = localStorage.getItem(KEY);
    return THEMES.includes(theme) ? theme : "auto";
  } catch {
    return "auto"; // storage may be forbidden
  }
}

function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // It will be asked for again next time.
  }
}

/** Wires the button; onChange() is called whenever colours change, also by the system. */
export function startTheme(button, onChange) {
  let theme = remembered();
  const apply = () => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.dataset.choice = theme;
    button.setAttribute("aria-label", `Colours: ${theme}`);
    button.title = `Colours: ${theme}`;
  };
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    remember(theme);
    apply();
    onChange();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", onChange);
  apply();
}
