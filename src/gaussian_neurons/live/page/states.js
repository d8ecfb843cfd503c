// The state of a neuron as text. No DOM.

const TEXTS = ["no pattern yet", "learned", "twin of a learned neuron"];

/** Whether a neuron has no pattern and its center is outside the domain of the data. */
export const isPushedOut = (frame, k) => frame.learned[k] === 0 && frame.outside[k] === 1;

export const stateOf = (frame, k) => (isPushedOut(frame, k) ? "pushed out" : TEXTS[frame.learned[k]]);

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
