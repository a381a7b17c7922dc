// Finds the positions of members and items in a JSON text without parsing its values, in linear time.

import type { Position } from "../text/problem-list.ts";
import { positionsIn } from "../text/text-positions.ts";
import { endOfString, stringAt } from "./names.ts";

const QUOTE = '"';
const OPENING = "[{";
const CLOSING = "]}";

/** A node of the tree of requested paths; `parts` is keyed by member name or item index. */
interface Place {
  readonly parts: Map<string, Place>;
  /** index of its first character; set by `mark` if the text has it */
  offset?: number;
}

/** An open object or list that contains the current character. */
interface OpenContainer {
  /** undefined if no requested path leads into it */
  readonly place: Place | undefined;
  /** of the current item in a list; undefined in an object */
  index: number | undefined;
}

/**
 * @param text well-formed JSON
 * @param paths member names and item indices from the root
 * @returns the position of each path, or of its nearest existing ancestor; a member begins with its name
 */
export function jsonPositions(text: string, paths: readonly (readonly string[])[]): Position[] {
  const root: Place = { parts: new Map(), offset: text.search(/\S/) };
  for (const path of paths) addPlace(root, path);
  mark(text, root);
  const positionAt = positionsIn(text);
  return paths.map((path) => positionAt(offsetOf(root, path)));
}

function addPlace(root: Place, path: readonly string[]): void {
  let place = root;
  for (const part of path) {
    const next = place.parts.get(part) ?? { parts: new Map() };
    place.parts.set(part, next);
    place = next;
  }
}

/** Sets the offset of every node of the tree that exists in the text. */
function mark(text: string, root: Place): void {
  const containers: OpenContainer[] = [];
  let place: Place | undefined = root;
  let isNameNext = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    const inside = containers.at(-1);
    if (character <= " " || character === ":") continue;
    if (CLOSING.includes(character)) {
      containers.pop();
    } else if (character === ",") {
      isNameNext = inside?.index === undefined;
      if (inside?.index !== undefined) inside.index += 1;
    } else if (isNameNext && character === QUOTE) {
      place = inside?.place && begun(inside.place, stringAt(text, at), at);
      isNameNext = false;
      at = endOfString(text, at);
    } else {
      if (inside?.index !== undefined) place = inside.place && begun(inside.place, String(inside.index), at);
      isNameNext = character === "{";
      if (OPENING.includes(character)) containers.push({ place, index: isNameNext ? undefined : 0 });
      else if (character === QUOTE) at = endOfString(text, at);
      else while (isScalarAt(text, at + 1)) at += 1;
    }
  }
}

const isScalarAt = (text: string, at: number): boolean => /[\w+.-]/.test(text.charAt(at));

function begun(parent: Place, part: string, offset: number): Place | undefined {
  const place = parent.parts.get(part);
  if (place) place.offset ??= offset;
  return place;
}

function offsetOf(root: Place, path: readonly string[]): number {
  let place: Place | undefined = root;
  let offset = 0;
  for (const part of path) {
    place = place?.parts.get(part);
    if (place?.offset === undefined) break;
    offset = place.offset;
  }
  return offset;
}
