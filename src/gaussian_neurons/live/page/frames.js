// Decodes a binary message: a JSON header, then arrays that lie in the same buffer.

const ARRAY_OF = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, i4: Int32Array };
const HEADER_AT = 4;

/** The header's fields, and every array under its own name as a view of the buffer (nothing is copied). */
export function decode(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, HEADER_AT, length));
  const { arrays = {}, ...fields } = JSON.parse(text);
  const message = { ...fields, shapes: {} };
  // A count and the flags of single neurons are both called "learned": the count is kept as learnedCount.
  if ("learned" in fields) message.learnedCount = fields.learned;
  for (const [name, { dtype, shape, offset }] of Object.entries(arrays)) {
    const count = shape.reduce((product, side) => product * side, 1);
    message[name] = new ARRAY_OF[dtype](buffer, offset, count);
    message.shapes[name] = shape;
  }
  return message;
}

/** Whether two scenes are of one start: the same run of the same server. */
export const isSameStart = (scene, other) => scene.generation === other?.generation && scene.run === other.run;

/** Whether a frame belongs to a scene: after a new start, frames of the old run may still be on their way. */
export function belongs(frame, scene) {
  if (!scene || frame.generation !== scene.generation || !frame.ids) return false;
  const [height, width, channels] = scene.patch ?? [1, 2, 1];
  return frame.centers.length === frame.ids.length * height * width * (channels ?? 1);
}
