// Turns patches of bytes into pixels: grey within the domain [0, 1], blue below it and red above.

const BELOW = [0x3b, 0x82, 0xf6];
const ABOVE = [0xef, 0x44, 0x44];
const BEYOND = 0.5; // a byte reaches this far outside of the domain on either side

export const DIMMED = 100; // of 255: how much of a dimmed patch is seen

const valueOf = (byte) => (byte / 255) * (1 + 2 * BEYOND) - BEYOND;

function mixed(from, to, part) {
  return from.map((channel, i) => Math.round(channel + (to[i] - channel) * part));
}

function colourOf(value) {
  if (value < 0) return mixed([0, 0, 0], BELOW, Math.min(1, -value / BEYOND));
  if (value > 1) return mixed([255, 255, 255], ABOVE, Math.min(1, (value - 1) / BEYOND));
  return mixed([0, 0, 0], [255, 255, 255], value);
}

// Both tables have one entry for each byte, so that painting is nothing but looking up.
const GREY = Uint8ClampedArray.from({ length: 256 * 3 }, (_, i) => colourOf(valueOf(Math.floor(i / 3)))[i % 3]);
const CLIPPED = Uint8ClampedArray.from({ length: 256 }, (_, byte) => Math.round(valueOf(byte) * 255));

/** Writes a patch (rows of pixels, channels last) into imageData of the patch's size. */
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

/** A canvas of exactly a patch's pixels; the style sheet scales it up without smoothing. */
export class PatchCanvas {
  constructor(canvas = document.createElement("canvas")) {
    this.canvas = canvas;
    this.canvas.classList.add("patch");
    this.last = null;
  }

  /**
   * Paints the patch unless it is what is shown already: learned filters hardly change. Dimmed ones have paler
   * pixels: hundreds of elements with an opacity of their own would each be a layer, and slow.
   */
  show(u1, patch, dimmed = false) {
    const [height, width] = patch;
    if (this.canvas.width !== width || this.canvas.height !== height || !this.image) {
      this.canvas.width = width;
      this.canvas.height = height;
      // Kept in plain memory: for so few pixels a texture on the graphics card costs more than it saves.
      this.context = this.canvas.getContext("2d", { willReadFrequently: true });
      this.image = this.context.createImageData(width, height);
      this.last = null;
    }
    if (this.last && this.dimmed === dimmed && same(this.last, u1)) return;
    paint(u1, patch, this.image);
    if (dimmed) for (let at = 3; at < this.image.data.length; at += 4) this.image.data[at] = DIMMED;
    this.context.putImageData(this.image, 0, 0);
    this.last = u1.slice();
    this.dimmed = dimmed;
  }
}

function same(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
