// Copying links, saving pictures, the run as a Python script, and the page's dialogs.

import * as pictures from "./pictures.js";

const find = (selector) => document.querySelector(selector);
const PICTURE_SCALE = 2;

/** Copies text, also where the browser has no clipboard for us (a page that is not served securely). */
async function copy(text) {
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
  area.className = "unseen";
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}

/** page: {scene, frame, columns, plane, address} as they are when asked. */
export class Sharing {
  constructor(page, connection, toasts) {
    this.page = page;
    this.toasts = toasts;
    find("#save-model").addEventListener("click", (event) => {
      if (connection.state === "open") return;
      event.preventDefault(); // the browser would save its own error page, or nothing
      toasts.show("The server cannot be reached, and it has the model: try again once it is back.", "error");
    });
    find("#copy-link").addEventListener("click", () => this.copied(page.address.link(), "Link copied."));
    find("#save-png").addEventListener("click", () => this.saving("png"));
    find("#save-svg").addEventListener("click", () => this.saving("svg"));
    find("#show-script").addEventListener("click", () => this.showScript());
    find("#copy-script").addEventListener("click", () => this.copied(find("#script").textContent, "Script copied."));
    this.closeMenuOutside(find("#save"));
  }

  async copied(text, done) {
    if (await copy(text)) this.toasts.show(done);
    else this.toasts.show(`The browser does not let us copy. Here it is: ${text.slice(0, 600)}`, "error");
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

  async saving(kind) {
    const { frame, scene } = this.page;
    if (!frame || !scene) return this.toasts.show("There is nothing to save yet: no sample has arrived.", "error");
    try {
      const name = `gaussian-neurons-${scene.setup.data}-seed${scene.setup.seed}-${Math.round(frame.seen)}.${kind}`;
      pictures.save(await this.picture(kind), name, kind === "png" ? "image/png" : "image/svg+xml");
    } catch (error) {
      this.toasts.show(`The picture could not be made: ${error.message}`, "error");
    }
  }

  picture(kind) {
    const { frame, scene, plane, columns } = this.page;
    if (scene.mode === "plane") return kind === "png" ? plane.toPNG() : plane.toSVG();
    return kind === "png"
      ? pictures.filtersPNG(frame, scene, columns, PICTURE_SCALE)
      : pictures.filtersSVG(frame, scene, columns);
  }

  async showScript() {
    try {
      const answer = await fetch("/script.py");
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      find("#script").textContent = await answer.text();
      find("#script-dialog").showModal();
    } catch (error) {
      this.toasts.show(`The script could not be fetched: ${error.message}`, "error");
    }
  }
}

/** Asks whether the link's settings should replace the run that others watch; onUse() if so. */
export function ask(onUse) {
  const dialog = find("#question-dialog");
  dialog.onclose = () => dialog.returnValue === "use" && onUse();
  dialog.returnValue = "";
  if (!dialog.open) dialog.showModal();
}

/** A click beside a dialog closes it. */
export function closeDialogsOutside() {
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  }
}
