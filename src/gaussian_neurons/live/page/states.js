// What has become of a neuron, in a word. No DOM.

const WORDS = ["no pattern yet", "learned", "twin of a learned one"];

/** Whether it is out of the game: no pattern found, and its center has left the domain of the data. */
export const isOut = (frame, k) => frame.learned[k] === 0 && frame.outside[k] === 1;

export const stateOf = (frame, k) => (isOut(frame, k) ? "pushed out" : WORDS[frame.learned[k]]);

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
