// Saved pictures: SVG as text, PNG made from it, and the download.

export { filtersSVG } from "./pictures_filters.js";

/** Draws an SVG on white, enlarged by `scale`. */
export async function svgToPNG(svg, scale = 2) {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(image.naturalWidth * scale);
    canvas.height = Math.round(image.naturalHeight * scale);
    const context = canvas.getContext("2d");
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, failed) => {
      canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("the picture is too large"))), "image/png");
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Downloads a Blob or text under a name. */
export function save(blobOrString, name, type = "application/octet-stream") {
  const blob = blobOrString instanceof Blob ? blobOrString : new Blob([blobOrString], { type });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // immediately is too early for some browsers
}
