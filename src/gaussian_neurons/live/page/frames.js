// Decodes a binary message: a JSON header, followed by arrays.

const ARRAY_OF = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, i4: Int32Array };
const HEADER_AT = 4;

/** The fields of the header, and every array by its name as a view of the buffer. */
export function decode(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, HEADER_AT, length));
  const { arrays = {}, ...fields } = JSON.parse(text);
  const message = { ...fields, shapes: {} };
  // Both the count and the array are called "learned": the count becomes learnedCount.
  if ("learned" in fields) message.learnedCount = fields.learned;
  for (const [name, { dtype, shape, offset }] of Object.entries(arrays)) {
    const count = shape.reduce((product, side) => product * side, 1);
    message[name] = new ARRAY_OF[dtype](buffer, HEADER_AT + length + offset, count);
    message.shapes[name] = shape;
  }
  return message;
}

/** Whether two scenes belong to the same trial of the same run. */
export const isSameTrial = (scene, other) => scene.generation === other?.generation && scene.run === other.run;
