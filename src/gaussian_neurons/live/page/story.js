// The story of a removal: a line from the empty place to the neuron that takes it over, with a sentence beside it.

const LASTS = 9000; // ms
const SVG = "http://www.w3.org/2000/svg";

export class Story {
  /** overlay: an SVG above the neurons; places: {from(story), to(story)} in pixels of the page, or null. */
  constructor(overlay, places) {
    Object.assign(this, { overlay, places, story: null });
    [this.line, this.ring, this.dot, this.text] = ["path", "circle", "circle", "text"].map((name) => {
      return overlay.appendChild(document.createElementNS(SVG, name));
    });
  }

  /** story: {old, new, place, text} from the server. */
  tell(story) {
    this.story = story;
    this.text.textContent = story.text;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.end(), LASTS);
    this.draw();
  }

  end() {
    this.story = null;
    this.text.textContent = "";
    this.draw();
  }

  /** Follows the neurons; called with every drawing. */
  draw() {
    const from = this.story && this.places.from(this.story);
    const to = this.story && this.places.to(this.story);
    this.overlay.toggleAttribute("hidden", !from || !to);
    if (!from || !to) return;
    const box = this.overlay.getBoundingClientRect();
    const [x0, y0] = [from.x - box.left, from.y - box.top];
    const [x1, y1] = [to.x - box.left, to.y - box.top];
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    const part = Math.max(0, 1 - to.radius / length); // the line ends at the frame
    this.line.setAttribute("d", `M${x0} ${y0}L${x0 + part * (x1 - x0)} ${y0 + part * (y1 - y0)}`);
    place(this.ring, { cx: x1, cy: y1, r: to.radius });
    place(this.dot, { cx: x0, cy: y0, r: 5 });
    const half = this.text.getComputedTextLength() / 2 + 8;
    const above = y1 - to.radius - 14 > 20;
    place(this.text, {
      x: Math.max(half, Math.min(box.width - half, x1)),
      y: above ? y1 - to.radius - 14 : y1 + to.radius + 24,
    });
  }
}

function place(element, numbers) {
  for (const [name, value] of Object.entries(numbers)) element.setAttribute(name, value);
}
