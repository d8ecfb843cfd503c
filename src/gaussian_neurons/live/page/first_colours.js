// Runs before the page is painted, so that who chose light or dark never sees a flash of the other. See theme.js.

try {
  const theme = localStorage.getItem("gaussian-neurons-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden: the system's colours, then.
}
