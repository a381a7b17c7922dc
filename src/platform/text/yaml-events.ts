// Reads ordinary, valid YAML many times as fast as yaml-source.ts. That file reads all other texts: those with aliases, tags,
// directives, tabs or several documents, beyond a limit, or with problems, which it lists completely.
import {
  EVENT_ID,
  type Event,
  getScalarValue,
  type MappingEvent,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent,
} from "js-yaml";
import { tokensOf } from "../errors.ts";
import { changeOf } from "../json/numbers.ts";
import { LARGE_OBJECT_MEMBERS_MAX, NamedShapes, OBJECT_SHAPES_MAX } from "../json/shapes.ts";
import { OBJECT_MEMBERS_MAX } from "../json/structure.ts";
import { PROTOTYPE_KEY } from "./object-reader.ts";
import { lineStartsOf } from "./text-positions.ts";
import { YAML_VALUES_MAX } from "./yaml-scan.ts";
import { MERGE_KEY, YAML_DEPTH_MAX, type YamlBounds } from "./yaml-source.ts";

/** Longer keys are not ordinary: NAME_CHARACTERS_MAX limits their length in JSON. */
export const KEY_CHARACTERS_MAX = 512;

/**
 * YAML readers disagree about tabs, other line ends, byte order marks, directives, document ends, and blocks with an explicit
 * indentation.
 */
const UNUSUAL_MARK =
  /[\t\ufeff\u0085\u2028\u2029]|\r(?!\n)|^(?:%|\.\.\.| +---)|[|>][-+]?[1-9][-+]?(?: *| +#.*)\r?$/m;

export interface OrdinaryYaml {
  readonly content: unknown;
  /**
   * @param pointer from the root
   * @returns the offset of the value, or of its nearest existing ancestor, in UTF-16 units; undefined if this reader does not know it
   */
  offsetOf(pointer: string): number | undefined;
}

/**
 * @param text without a byte order mark
 * @returns undefined for every text that is not ordinary
 */
export function readOrdinaryYaml(
  text: string,
  { tokensMax }: Pick<YamlBounds, "tokensMax">,
): OrdinaryYaml | undefined {
  // Readers disagree about blanks at the end of a text without a final line break.
  if (UNUSUAL_MARK.test(text) || text.endsWith(" ")) return undefined;
  const lines = lineStartsOf(text).length;
  if (lines > tokensMax) return undefined;
  try {
    const events = parseEvents(text, { maxDepth: YAML_DEPTH_MAX });
    // The other reader counts tokens; any text of some length has more of them.
    if (lines + events.length > tokensMax) return undefined;
    const content = new Values(text, events).document();
    return { content, offsetOf: (pointer) => offsetAt(text, events, tokensOf(pointer)) };
  } catch {
    return undefined; // the other reader accepts the text or reports its problems
  }
}

/** Stops reading a text that is not ordinary. */
const unusual = (what: string): Error => new Error(what);

/** @returns the event of a node without an anchor or a tag */
function plain<Node extends ScalarEvent | SequenceEvent | MappingEvent>(event: Node): Node {
  if (event.anchorStart >= 0 || event.tagStart >= 0) throw unusual("anchor or tag");
  return event;
}

/** Builds the value of a document from its events; the parser has limited their nesting. */
class Values {
  readonly #shapes = new NamedShapes();
  #largeObjectMembers = 0;
  #count = 0;
  #at = 0;

  constructor(
    private readonly text: string,
    private readonly events: readonly Event[],
  ) {}

  document(): unknown {
    const start = this.#next();
    if (start.type !== EVENT_ID.DOCUMENT || start.directives.length > 0) throw unusual("directives");
    const root = this.#node();
    if (this.#next().type !== EVENT_ID.POP || this.#at < this.events.length) throw unusual("documents");
    return root;
  }

  #next(): Event {
    const event = this.events[this.#at++];
    if (!event) throw unusual("no document");
    return event;
  }

  #isEnd(): boolean {
    if (this.events[this.#at]?.type !== EVENT_ID.POP) return false;
    this.#at += 1;
    return true;
  }

  #node(): unknown {
    const event = this.#next();
    this.#add(1);
    if (event.type === EVENT_ID.SCALAR) return this.#scalar(plain(event));
    if (event.type !== EVENT_ID.SEQUENCE && event.type !== EVENT_ID.MAPPING) throw unusual("alias");
    if (plain(event).type === EVENT_ID.MAPPING) return this.#mapping();
    const items: unknown[] = [];
    while (!this.#isEnd()) items.push(this.#node());
    return items;
  }

  #scalar(event: ScalarEvent): unknown {
    const value = getScalarValue(this.text, event);
    if (isBlock(event) && value.trim() === "") throw unusual("block of blanks");
    return event.style === SCALAR_STYLE.PLAIN ? plainValueOf(value) : value;
  }

  #mapping(): Record<string, unknown> {
    const names: string[] = [];
    const object: Record<string, unknown> = {};
    while (!this.#isEnd()) {
      const key = this.#next();
      if (key.type !== EVENT_ID.SCALAR) throw unusual("a key that is not text");
      const name = nameOf(this.text, plain(key));
      if (name === PROTOTYPE_KEY || name === MERGE_KEY || Object.hasOwn(object, name)) throw unusual("key");
      this.#add(1);
      object[name] = this.#node();
      names.push(name);
    }
    if (names.length > OBJECT_MEMBERS_MAX) throw unusual("members");
    this.#addShape(names);
    return object;
  }

  #addShape(names: readonly string[]): void {
    this.#largeObjectMembers += this.#shapes.add(names);
    if (this.#shapes.size > OBJECT_SHAPES_MAX) throw unusual("shapes");
    if (this.#largeObjectMembers > LARGE_OBJECT_MEMBERS_MAX) throw unusual("large objects");
  }

  #add(values: number): void {
    this.#count += values;
    if (this.#count > YAML_VALUES_MAX) throw unusual("values");
  }
}

function nameOf(text: string, key: ScalarEvent): string {
  const characters = key.valueEnd - key.valueStart;
  if (key.valueStart < 0 || characters > KEY_CHARACTERS_MAX || isBlock(key)) throw unusual("key");
  return getScalarValue(text, key);
}

const isBlock = ({ style }: ScalarEvent): boolean =>
  style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK;

const CONSTANTS: ReadonlyMap<string, null | boolean> = new Map<string, null | boolean>([
  ...["", "~", "null", "Null", "NULL"].map((text) => [text, null] as const),
  ...["true", "True", "TRUE"].map((text) => [text, true] as const),
  ...["false", "False", "FALSE"].map((text) => [text, false] as const),
]);
const INTEGER = /^[-+]?\d+$/;
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
/** octal and hexadecimal numbers, infinity and NaN */
const UNUSUAL_NUMBER = /^(?:0[ox]|[-+]?\.(?:inf|nan)$)/i;

/** @source YAML 1.2.2 section 10.3.2, the core schema */
function plainValueOf(text: string): unknown {
  const constant = CONSTANTS.get(text);
  if (constant !== undefined) return constant;
  if (text > ":" || !/^[-+.\d]/.test(text)) return text;
  if (UNUSUAL_NUMBER.test(text)) throw unusual("number");
  if (!FLOAT.test(text)) return text;
  const number = INTEGER.test(text) ? Number.parseInt(text, 10) : Number.parseFloat(text);
  if (!Number.isFinite(number) || changeOf(text, number) !== undefined) throw unusual("number");
  return number;
}

/**
 * @param events of a document that was read
 * @returns the offset of the place, or of its nearest existing ancestor; undefined if the parser does not report it
 */
function offsetAt(text: string, events: readonly Event[], tokens: readonly string[]): number | undefined {
  let place: Place = { at: 1, offset: startOf(events[1]) };
  for (const token of tokens) {
    const part = partAt(text, events, { parent: place.at, token });
    if (!part) break;
    place = part;
  }
  return place.offset;
}

interface Place {
  /** index of the event with the value */
  readonly at: number;
  /** offset of the value; for a member, offset of its key */
  readonly offset: number | undefined;
}

/** @returns the member or item with that name or index */
function partAt(
  text: string,
  events: readonly Event[],
  { parent, token }: { parent: number; token: string },
): Place | undefined {
  const type = events[parent]?.type;
  if (type !== EVENT_ID.MAPPING && type !== EVENT_ID.SEQUENCE) return undefined;
  let at = parent + 1;
  for (let index = 0; ; index += 1) {
    const event = events[at];
    if (!event || event.type === EVENT_ID.POP) return undefined;
    const isMember = type === EVENT_ID.MAPPING && event.type === EVENT_ID.SCALAR;
    const name = isMember ? nameOf(text, event) : String(index);
    if (isMember) at += 1;
    if (name === token) return { at, offset: startOf(event) };
    at = afterNode(events, at);
  }
}

/** @returns the index of the event after the value at `start` */
function afterNode(events: readonly Event[], start: number): number {
  let at = start;
  let open = 0;
  do {
    const type = events[at]?.type;
    if (type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE) open += 1;
    else if (type === EVENT_ID.POP) open -= 1;
    at += 1;
  } while (open > 0);
  return at;
}

function startOf(event: Event | undefined): number | undefined {
  if (event?.type === EVENT_ID.SCALAR) return offsetOfScalar(event);
  const hasStart = event?.type === EVENT_ID.MAPPING || event?.type === EVENT_ID.SEQUENCE;
  return hasStart ? event.start : undefined;
}

/** Only the content of a block is known, not its start. */
function offsetOfScalar(event: ScalarEvent): number | undefined {
  const { valueStart, style } = event;
  if (valueStart < 0 || isBlock(event)) return undefined;
  return style === SCALAR_STYLE.PLAIN ? valueStart : valueStart - 1;
}
