// Short messages that disappear after some seconds. Screen readers announce them.

const MAX_TOASTS = 3;
const STAY = { info: 4000, error: 9000 }; // ms

export class Toasts {
  constructor(region) {
    this.region = region;
    this.shown = []; // {text, element, count, timer}, oldest first
  }

  /** Shows a message. A message that is already shown gets a counter instead. */
  show(text, level = "info") {
    let toast = this.shown.find((other) => other.text === text);
    if (toast) {
      toast.count += 1;
      toast.element.querySelector(".times").textContent = ` ×${toast.count}`;
    } else {
      toast = this.add(text, level);
    }
    clearTimeout(toast.timer);
    toast.timer = setTimeout(() => this.remove(toast), STAY[level] ?? STAY.info);
    while (this.shown.length > MAX_TOASTS) this.remove(this.shown[0]);
  }

  add(text, level) {
    const element = document.querySelector("#toast").content.firstElementChild.cloneNode(true);
    const toast = { text, element, count: 1, timer: null };
    element.dataset.level = level;
    element.querySelector(".text").textContent = text;
    element.querySelector("button").addEventListener("click", () => this.remove(toast));
    this.region.append(element);
    this.shown.push(toast);
    return toast;
  }

  remove(toast) {
    clearTimeout(toast.timer);
    toast.element.remove();
    this.shown = this.shown.filter((other) => other !== toast);
  }
}
