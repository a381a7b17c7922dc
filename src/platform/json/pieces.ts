// Parses a long JSON text in pieces, because JSON.parse blocks the event loop until it is done. Each piece is completed to
// valid JSON: the lists and objects that are open at its start come before it, and the missing brackets after it. JSON.parse checks
// every character.

import type { Steps } from "../steps.ts";
import { PROTOTYPE_KEY } from "../text/object-reader.ts";
import { stringAt } from "./names.ts";
import type { JsonCut } from "./structure.ts";

/** @param cuts of the text @returns its value @throws SyntaxError */
export function* parseInSteps(text: string, cuts: readonly JsonCut[]): Steps<unknown> {
  const [first] = cuts;
  if (!first) return JSON.parse(text);
  const value = JSON.parse(text.slice(0, first.at) + closing(first));
  const continued = crypto.randomUUID();
  for (const [index, cut] of cuts.entries()) {
    yield;
    const next = cuts[index + 1];
    const end = next ? text.slice(cut.at, next.at) + closing(next) : text.slice(cut.at);
    append({ to: value, piece: JSON.parse(opening(cut, continued) + end), text, cut, continued });
  }
  return value;
}

/** The first child of each list and object is the part that is open in it, under the name `continued` in an object. */
const opening = ({ open }: JsonCut, continued: string): string =>
  `${open.map((name) => (name === null ? "[" : `{"${continued}":`)).join("")}0`;

const closing = ({ open }: JsonCut): string =>
  open
    .map((name) => (name === null ? "]" : "}"))
    .reverse()
    .join("");

interface Append {
  /** value of the text before the cut */
  to: unknown;
  /** value of the piece that begins there */
  piece: unknown;
  text: string;
  cut: JsonCut;
  continued: string;
}

/** Appends the children of the lists and objects that are open at the cut. */
function append({ to, piece, text, cut, continued }: Append): void {
  let [target, source] = [to, piece];
  for (const name of cut.open) {
    if (Array.isArray(target) && Array.isArray(source)) {
      for (let at = 1; at < source.length; at += 1) target.push(source[at]);
      [target, source] = [target.at(-source.length), source[0]];
    } else {
      const [object, further] = [Object(target), Object(source)];
      for (const key of Object.keys(further)) if (key !== continued) setMember(object, key, further[key]);
      [target, source] = [object[stringAt(text, name ?? 0)], further[continued]];
    }
  }
}

function setMember(object: object, key: string, value: unknown): void {
  if (key === PROTOTYPE_KEY)
    Object.defineProperty(object, key, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  else Reflect.set(object, key, value);
}
