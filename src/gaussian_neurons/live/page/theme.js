// Light, dark or the system's theme. The choice is stored if the browser allows it.

import { readStorage, writeStorage } from "./storage.js";

const KEY = "gaussian-neurons-theme";
const THEMES = ["auto", "light", "dark"];

/** Connects the button. <html data-theme> is the theme that is shown. */
export function startTheme(button) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let theme = readStorage("localStorage", KEY);
  if (!THEMES.includes(theme)) theme = "auto";
  const apply = () => {
    const system = dark.matches ? "dark" : "light";
    document.documentElement.dataset.theme = theme === "auto" ? system : theme;
    button.dataset.choice = theme;
    button.setAttribute("aria-label", `Theme: ${theme}`);
    button.title = `Theme: ${theme}`;
  };
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    writeStorage("localStorage", KEY, theme);
    apply();
  });
  dark.addEventListener("change", apply);
  apply();
}
