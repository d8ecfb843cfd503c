// Choosing data and figures by picture. The pictures are drawn from runs: thumbnails.png, in the order of the page.

import { capital } from "./states.js";

const SIDE = 96; // px of a picture
const find = (selector) => document.querySelector(selector);

export class Gallery {
  /** send(message) to the server. */
  constructor(send) {
    this.send = send;
    this.dialog = find("#gallery");
    this.known = [];
    find("#choose").addEventListener("click", () => {
      this.describe(this.shown);
      this.dialog.showModal();
      this.dialog.querySelector("[aria-pressed=true]")?.focus();
    });
  }

  setWelcome({ datasets, presets }) {
    const pictured = datasets.filter(({ name }) => name !== "file").length;
    const data = datasets.map((one, k) => ({ ...one, kind: "data", at: one.name === "file" ? -1 : k, text: `${one.label}. ${capital(one.text)}`, message: { do: "start", setup: { data: one.name } } }));
    const figures = presets.map((one, k) => ({ ...one, kind: "preset", at: pictured + k, available: true, text: `${one.label}. ${capital(one.title)}. ${one.hint}`, message: { do: "preset", name: one.name } }));
    this.known = [...data, ...figures];
    find("#datasets").replaceChildren(...data.map((one) => this.button(one)));
    find("#presets").replaceChildren(...figures.map((one) => this.button(one)));
  }

  button(one) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset[one.kind] = one.name;
    button.setAttribute("aria-disabled", !one.available);
    button.title = one.text;
    button.append(picture(document.createElement("i"), one.at), one.label);
    for (const event of ["pointerenter", "focus"]) button.addEventListener(event, () => this.describe(one));
    button.addEventListener("click", () => {
      if (one.available && this.send(one.message)) this.dialog.close();
    });
    return button;
  }

  describe(one) {
    find("#gallery-text").textContent = one?.text ?? "";
  }

  setScene({ preset, changed, setup, data }) {
    const figure = this.known.find(({ kind, name }) => kind === "preset" && name === preset);
    const source = this.known.find(({ kind, name }) => kind === "data" && name === setup.data);
    this.shown = figure ?? source;
    for (const button of this.dialog.querySelectorAll(".pictures button")) {
      button.setAttribute("aria-pressed", button.dataset[this.shown?.kind] === this.shown?.name);
    }
    picture(find("#choose .thumbnail"), this.shown?.at ?? -1);
    find("#figure-title").textContent = figure ? `${figure.label}${changed ? ", changed" : ""}. ${capital(figure.title)}` : (source?.label ?? "");
    find("#figure-hint").textContent = figure?.hint ?? data;
  }
}

/** Shows one picture of the sheet in an element, -1: none. */
function picture(element, at) {
  element.className = at < 0 ? "thumbnail none" : "thumbnail";
  element.style.setProperty("--at", `${-at * SIDE}px`);
  return element;
}
