// Runs before the page is painted, so that nobody sees a flash of other colours. What follows is in theme.js.

{
  let theme = null;
  try {
    theme = localStorage.getItem("gaussian-neurons-theme");
  } catch {
    // Storage may be forbidden: the system's colours, then.
  }
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme === "light" || theme === "dark" ? theme : system;
}
