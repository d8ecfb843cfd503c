// Copying links, saving pictures, showing the Python script, and dialogs.

import * as pictures from "./pictures.js";

const find = (selector) => document.querySelector(selector);

/** Copies text, also without the clipboard API, which needs a secure page. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelecting(text);
  }
}

function copyBySelecting(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "offscreen";
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}

/** page: {scene, frame, columns, plane, address}, read when needed. */
export class Sharing {
  constructor(page, connection, toasts) {
    this.page = page;
    this.toasts = toasts;
    find("#save-model").addEventListener("click", (event) => {
      if (connection.state === "open") return;
      event.preventDefault(); // otherwise the browser saves its own error page
      toasts.show("The model cannot be saved: the server is not connected. Try again when it is.", "error");
    });
    find("#copy-link").addEventListener("click", () => this.copy(page.address.link(), "Link copied."));
    find("#save-png").addEventListener("click", () => this.savePicture());
    find("#show-script").addEventListener("click", () => this.showScript());
    find("#copy-script").addEventListener("click", () => this.copy(find("#script").textContent, "Script copied."));
    this.closeMenuOutside(find("#save"));
  }

  async copy(text, done) {
    if (await copyText(text)) this.toasts.show(done);
    else this.toasts.show(`The browser does not allow copying. Copy this text: ${text.slice(0, 600)}`, "error");
  }

  closeMenuOutside(menu) {
    document.addEventListener("click", (event) => {
      if (!event.target.closest("summary") || !menu.contains(event.target)) menu.open = false;
    });
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !menu.open) return;
      menu.open = false;
      menu.querySelector("summary").focus();
    });
  }

  async savePicture() {
    const { frame, scene, plane, columns, slots } = this.page;
    if (!frame || !scene) return this.toasts.show("There is no picture to save yet. Try again when the neurons are shown.", "error");
    try {
      const name = `gaussian-neurons-${scene.setup.data}-seed${scene.setup.seed}-${Math.round(frame.seen)}.png`;
      const drawn = scene.mode === "plane" ? pictures.planePicture(plane, frame, scene) : pictures.filtersPicture(frame, scene, columns, slots);
      await pictures.save(drawn, name);
    } catch (error) {
      this.toasts.show(`The picture cannot be saved: ${error.message}`, "error");
    }
  }

  async showScript() {
    try {
      const response = await fetch("/script.py");
      if (!response.ok) throw new Error(`the server returned status ${response.status}`);
      find("#script").textContent = await response.text();
      find("#script-dialog").showModal();
    } catch (error) {
      this.toasts.show(`The script cannot be loaded: ${error.message}`, "error");
    }
  }
}

/** Asks whether the link's settings should replace a run that is shown in other tabs; calls onUse() if so. */
export function confirmLink(onUse) {
  const dialog = find("#question-dialog");
  dialog.onclose = () => dialog.returnValue === "use" && onUse();
  dialog.returnValue = "";
  if (!dialog.open) dialog.showModal();
}

/** A click outside a dialog closes it. */
export function closeDialogsOutside() {
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  }
}
