// Sets the theme before the first paint, so that the page does not flash in the other one. See theme.js.

{
  let theme = null;
  try {
    theme = localStorage.getItem("gaussian-neurons-theme");
  } catch {
    // Storage is blocked: use the system's theme.
  }
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme === "light" || theme === "dark" ? theme : system;
}
