// Turns patches of bytes into pixels: grey within the domain [0, 1], blue below it and red above.

const BELOW = [0x3b, 0x82, 0xf6];
const ABOVE = [0xef, 0x44, 0x44];
const BEYOND = 0.5; // bytes cover this range outside the domain on both sides

export const DIMMED = 64; // opacity of a dimmed patch, of 255

const valueOf = (byte) => (byte / 255) * (1 + 2 * BEYOND) - BEYOND;

function mixed(from, to, part) {
  return from.map((channel, i) => Math.round(channel + (to[i] - channel) * part));
}

function colourOf(value) {
  if (value < 0) return mixed([0, 0, 0], BELOW, Math.min(1, -value / BEYOND));
  if (value > 1) return mixed([255, 255, 255], ABOVE, Math.min(1, (value - 1) / BEYOND));
  return mixed([0, 0, 0], [255, 255, 255], value);
}

// Both tables have one entry per byte.
const GREY = Uint8ClampedArray.from({ length: 256 * 3 }, (_, i) => colourOf(valueOf(Math.floor(i / 3)))[i % 3]);
const CLIPPED = Uint8ClampedArray.from({ length: 256 }, (_, byte) => Math.round(valueOf(byte) * 255));

/** Writes a patch (rows of pixels, channels last) into imageData of the same size. */
export function paint(u1, patch, imageData) {
  const [height, width, channels = 1] = patch;
  const pixels = imageData.data;
  for (let pixel = 0, to = 0; pixel < height * width; pixel++, to += 4) {
    if (channels === 1) {
      const from = u1[pixel] * 3;
      pixels[to] = GREY[from];
      pixels[to + 1] = GREY[from + 1];
      pixels[to + 2] = GREY[from + 2];
    } else {
      pixels[to] = CLIPPED[u1[pixel * channels]];
      pixels[to + 1] = CLIPPED[u1[pixel * channels + 1]];
      pixels[to + 2] = CLIPPED[u1[pixel * channels + 2]];
    }
    pixels[to + 3] = 255;
  }
}

/** A canvas with the resolution of a patch; the style sheet enlarges it without smoothing. */
export class PatchCanvas {
  constructor(canvas = document.createElement("canvas")) {
    this.canvas = canvas;
    this.canvas.classList.add("patch");
    this.last = null;
  }

  /**
   * Paints the patch if it has changed; learned filters hardly change. Dimmed patches have transparent pixels,
   * because hundreds of elements with CSS opacity, each a layer, are slow.
   */
  show(u1, patch, dimmed = false) {
    const [height, width] = patch;
    if (this.canvas.width !== width || this.canvas.height !== height || !this.image) {
      this.canvas.width = width;
      this.canvas.height = height;
      // In main memory: for so few pixels, a texture on the graphics card is slower.
      this.context = this.canvas.getContext("2d", { willReadFrequently: true });
      this.image = this.context.createImageData(width, height);
      this.last = null;
    }
    if (this.last && this.dimmed === dimmed && same(this.last, u1)) return this;
    paint(u1, patch, this.image);
    if (dimmed) for (let at = 3; at < this.image.data.length; at += 4) this.image.data[at] = DIMMED;
    this.context.putImageData(this.image, 0, 0);
    this.last = u1.slice();
    this.dimmed = dimmed;
    return this;
  }
}

function same(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
