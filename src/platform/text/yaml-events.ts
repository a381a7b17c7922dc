// Reads ordinary YAML without problems many times as fast as yaml-source.ts, which reads every other text: with aliases, tags,
// directives, tabs or several documents, beyond a limit, or with problems, because it names all of them.
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
import { LARGE_OBJECT_MEMBERS_MAX, NamedShapes, OBJECT_SHAPES_MAX } from "../json/shapes.ts";
import { OBJECT_MEMBERS_MAX } from "../json/structure.ts";
import { PROTOTYPE_KEY } from "./object-reader.ts";
import { lineStartsOf } from "./text-positions.ts";
import { YAML_VALUES_MAX } from "./yaml-scan.ts";
import { MERGE_KEY, YAML_DEPTH_MAX, type YamlBounds } from "./yaml-source.ts";

/** Longer keys are not ordinary: their limit is one of their JSON, NAME_CHARACTERS_MAX. */
export const KEY_CHARACTERS_MAX = 512;

/**
 * Readers of YAML differ about tabs, line ends of other systems, byte order marks, directives, ends of documents, and blocks whose
 * header says how far they are indented.
 */
const UNUSUAL_MARK =
  /[\t\ufeff\u0085\u2028\u2029]|\r(?!\n)|^(?:%|\.\.\.| +---)|[|>][-+]?[1-9][-+]?(?: *| +#.*)\r?$/m;

export interface OrdinaryYaml {
  readonly content: unknown;
  /**
   * @param pointer from the root
   * @returns the offset of the value, or of its nearest existing ancestor, in UTF-16 units; undefined if it is not known here
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
  // Readers differ about blanks that end a text without ending its line.
  if (UNUSUAL_MARK.test(text) || text.endsWith(" ")) return undefined;
  const lines = lineStartsOf(text).length;
  if (lines > tokensMax) return undefined;
  try {
    const events = parseEvents(text, { maxDepth: YAML_DEPTH_MAX });
    // The other reader counts tokens, which are more in any text of some length.
    if (lines + events.length > tokensMax) return undefined;
    const content = new Values(text, events).document();
    let root: Place | undefined;
    return {
      content,
      offsetOf(pointer) {
        root ??= new Places(text, events).document();
        return offsetAt(root, tokensOf(pointer));
      },
    };
  } catch {
    return undefined; // the other reader accepts the text, or reports what is wrong with it
  }
}

/** Ends the reading of a text that is not ordinary. */
const unusual = (what: string): Error => new Error(what);

/** Walks the events of a document, whose nesting the parser has limited. */
abstract class Walk<Node> {
  #at = 0;

  constructor(
    protected readonly text: string,
    private readonly events: readonly Event[],
  ) {}

  document(): Node {
    const start = this.#next();
    if (start.type !== EVENT_ID.DOCUMENT || start.directives.length > 0) throw unusual("directives");
    const root = this.#node();
    if (this.#next().type !== EVENT_ID.POP || this.#at < this.events.length) throw unusual("documents");
    return root;
  }

  protected abstract scalar(event: ScalarEvent): Node;
  protected abstract sequence(event: SequenceEvent, items: Node[]): Node;
  protected abstract mapping(event: MappingEvent, members: (readonly [ScalarEvent, Node])[]): Node;

  #next(): Event {
    const event = this.events[this.#at++];
    if (!event) throw unusual("no document");
    return event;
  }

  #node(): Node {
    const event = this.#next();
    if (event.type === EVENT_ID.SCALAR) return this.scalar(plain(event));
    if (event.type === EVENT_ID.SEQUENCE) {
      const items: Node[] = [];
      while (!this.#isEnd()) items.push(this.#node());
      return this.sequence(plain(event), items);
    }
    if (event.type !== EVENT_ID.MAPPING) throw unusual("alias");
    const members: (readonly [ScalarEvent, Node])[] = [];
    while (!this.#isEnd()) {
      const key = this.#next();
      if (key.type !== EVENT_ID.SCALAR) throw unusual("a key that is not text");
      members.push([plain(key), this.#node()]);
    }
    return this.mapping(plain(event), members);
  }

  #isEnd(): boolean {
    if (this.events[this.#at]?.type !== EVENT_ID.POP) return false;
    this.#at += 1;
    return true;
  }
}

/** @returns the event of a node without an anchor and a tag */
function plain<Node extends ScalarEvent | SequenceEvent | MappingEvent>(event: Node): Node {
  if (event.anchorStart >= 0 || event.tagStart >= 0) throw unusual("anchor or tag");
  return event;
}

class Values extends Walk<unknown> {
  readonly #shapes = new NamedShapes();
  #largeObjectMembers = 0;
  #count = 0;

  protected scalar(event: ScalarEvent): unknown {
    this.#add(1);
    const value = getScalarValue(this.text, event);
    if (isBlock(event) && value.trim() === "") throw unusual("block of blanks");
    return event.style === SCALAR_STYLE.PLAIN ? plainValueOf(value) : value;
  }

  protected sequence(_event: SequenceEvent, items: unknown[]): unknown {
    this.#add(1);
    return items;
  }

  protected mapping(
    _event: MappingEvent,
    members: readonly (readonly [ScalarEvent, unknown])[],
  ): Record<string, unknown> {
    this.#add(1 + members.length);
    if (members.length > OBJECT_MEMBERS_MAX) throw unusual("members");
    const names: string[] = [];
    const object: Record<string, unknown> = {};
    for (const [key, value] of members) {
      const name = nameOf(this.text, key);
      if (name === PROTOTYPE_KEY || name === MERGE_KEY || Object.hasOwn(object, name)) throw unusual("key");
      object[name] = value;
      names.push(name);
    }
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
  if (!Number.isFinite(number)) throw unusual("number");
  return number;
}

/** A node of the text. */
interface Place {
  /** undefined where the parser does not tell it */
  readonly offset: number | undefined;
  /** by name or index; a member begins with its key */
  readonly parts: ReadonlyMap<string, Place>;
}

const NO_PARTS: ReadonlyMap<string, Place> = new Map();

class Places extends Walk<Place> {
  protected scalar(event: ScalarEvent): Place {
    return { offset: offsetOfScalar(event), parts: NO_PARTS };
  }

  protected sequence({ start }: SequenceEvent, items: readonly Place[]): Place {
    return { offset: start, parts: new Map(items.map((item, index) => [String(index), item])) };
  }

  protected mapping({ start }: MappingEvent, members: readonly (readonly [ScalarEvent, Place])[]): Place {
    const parts = members.map(
      ([key, { parts }]) => [nameOf(this.text, key), { offset: offsetOfScalar(key), parts }] as const,
    );
    return { offset: start, parts: new Map(parts) };
  }
}

/** Only the content of a block is known, not its start. */
function offsetOfScalar(event: ScalarEvent): number | undefined {
  const { valueStart, style } = event;
  if (valueStart < 0 || isBlock(event)) return undefined;
  return style === SCALAR_STYLE.PLAIN ? valueStart : valueStart - 1;
}

function offsetAt(root: Place, tokens: readonly string[]): number | undefined {
  let place = root;
  for (const token of tokens) {
    const part = place.parts.get(token);
    if (!part) break;
    place = part;
  }
  return place.offset;
}
