// Light, dark, or as the system says; remembered where the browser lets us.

import { remember, remembered } from "./storage.js";

const KEY = "gaussian-neurons-theme";
const THEMES = ["auto", "light", "dark"];

/** Wires the button. <html data-theme> says which colours are shown. */
export function startTheme(button) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let theme = remembered("localStorage", KEY);
  if (!THEMES.includes(theme)) theme = "auto";
  const apply = () => {
    const system = dark.matches ? "dark" : "light";
    document.documentElement.dataset.theme = theme === "auto" ? system : theme;
    button.dataset.choice = theme;
    button.setAttribute("aria-label", `Colours: ${theme}`);
    button.title = `Colours: ${theme}`;
  };
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    remember("localStorage", KEY, theme);
    apply();
  });
  dark.addEventListener("change", apply);
  apply();
}
