// Short messages that come and go; screen readers are told of them.

const MOST = 3;
const STAY = { info: 4000, error: 9000 }; // ms

export class Toasts {
  constructor(region) {
    this.region = region;
    this.shown = []; // {text, element, count, timer}, oldest first
  }

  /** Shows a message; one that is shown already is counted, not shown twice. */
  show(text, level = "info") {
    let toast = this.shown.find((other) => other.text === text);
    if (toast) {
      toast.count += 1;
      toast.element.querySelector(".times").textContent = ` ×${toast.count}`;
    } else {
      toast = this.add(text, level);
    }
    clearTimeout(toast.timer);
    toast.timer = setTimeout(() => this.drop(toast), STAY[level] ?? STAY.info);
    while (this.shown.length > MOST) this.drop(this.shown[0]);
  }

  add(text, level) {
    const element = document.querySelector("#toast").content.firstElementChild.cloneNode(true);
    const toast = { text, element, count: 1, timer: null };
    element.dataset.level = level;
    element.querySelector(".text").textContent = text;
    element.querySelector("button").addEventListener("click", () => this.drop(toast));
    this.region.append(element);
    this.shown.push(toast);
    return toast;
  }

  drop(toast) {
    clearTimeout(toast.timer);
    toast.element.remove();
    this.shown = this.shown.filter((other) => other !== toast);
  }
}
