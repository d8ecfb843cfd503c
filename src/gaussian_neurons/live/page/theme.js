// Light, dark or the system's theme. A classic script: it sets the theme before the first paint, so that the page does
// not flash in the other one. <html data-theme> is the theme that is shown.

{
  const KEY = "gaussian-neurons-theme";
  const THEMES = ["auto", "light", "dark"];
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let theme = null;
  try {
    theme = localStorage.getItem(KEY);
  } catch {
    // Storage is blocked: the choice is not kept.
  }
  if (!THEMES.includes(theme)) theme = "auto";

  const apply = () => {
    document.documentElement.dataset.theme = theme === "auto" ? (dark.matches ? "dark" : "light") : theme;
    const button = document.querySelector("#theme");
    if (!button) return;
    button.dataset.choice = theme;
    button.title = `Theme: ${theme}`;
    button.setAttribute("aria-label", button.title);
  };
  const next = () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // Blocked, see above.
    }
    apply();
  };
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelector("#theme").addEventListener("click", next);
    apply();
  });
  dark.addEventListener("change", apply);
  apply();
}
