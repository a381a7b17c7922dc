// Determines whether a response that neither declares its length nor comes in chunks is complete. The end of its connection does
// not show this, because the runtime reports a reset connection like a closed one, so the content decides.
import type { Dialect } from "../paths.ts";
import { BOUNDARY_BYTES, isBetweenEvents } from "./last-event.ts";
import { isPlain, isPlainEventStream } from "./response-headers.ts";

export interface UnframedEnd {
  push(piece: Uint8Array): void;
  readonly isComplete: boolean;
}

/** @returns undefined for a response with a marked end, and for content without an end marker */
export function unframedEndOf(headers: Headers, dialect: Dialect): UnframedEnd | undefined {
  if (headers.has("content-length") || headers.has("transfer-encoding")) return undefined;
  if (isPlainEventStream(headers)) return new UnframedEventStream(dialect);
  if (!isPlain(headers)) return undefined;
  const type = headers.get("content-type") ?? "";
  const isJson = /[/+]json\b/i.test(type);
  return type === "" || isJson ? new UnframedGuess(dialect, isJson) : undefined;
}

const [LF, CR, SPACE, QUOTE, COMMA, COLON, BACKSLASH] = [0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x3a, 0x5c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The place in JSON, byte by byte. */
class JsonPlace {
  depth = 0;
  isInString = false;
  #isEscaped = false;

  push(byte: number): void {
    if (this.isInString) this.#pushInString(byte);
    else if (byte === QUOTE) this.isInString = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.depth -= 1;
  }

  #pushInString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.isInString = false;
  }
}

/** Complete when every bracket and string is closed. A number or a word that is cut short looks complete, but no API answers with one. */
class UnframedJson implements UnframedEnd {
  readonly #place = new JsonPlace();
  #hasBegun = false;

  push(piece: Uint8Array): void {
    for (const byte of piece) {
      this.#hasBegun ||= byte > SPACE;
      this.#place.push(byte);
    }
  }

  get isComplete(): boolean {
    return this.#hasBegun && this.#place.depth === 0 && !this.#place.isInString;
  }
}

/** The types of the events with which the APIs end a stream. The API of chats has no types. */
const FINAL_TYPES: Readonly<Record<Exclude<Dialect, "chat">, ReadonlySet<string>>> = {
  messages: new Set(["message_stop", "error"]),
  responses: new Set(["response.completed", "response.incomplete", "response.failed", "error"]),
};
/** Characters kept of a string; more than a final type has. */
const KEPT_CHARACTERS = 32;

/** Finds a final event by the member `type` of its own object. Objects inside it, such as parts of the text of a model, may have any type. */
class FinalType {
  #place = new JsonPlace();
  /** the last string at the top of the object, or its beginning */
  #text = "";
  /** the member whose value is read */
  #name: string | undefined;
  #previous = LF;
  #isLineEmpty = true;
  wasSeen = false;

  constructor(private readonly types: ReadonlySet<string>) {}

  push(byte: number): void {
    const isLineEnd = byte === LF || byte === CR;
    const isNewLine = isLineEnd && !(byte === LF && this.#previous === CR);
    if (isNewLine && this.#isLineEmpty) this.#startEvent();
    this.#isLineEmpty = isLineEnd;
    this.#previous = byte;
    this.#read(byte);
  }

  #startEvent(): void {
    this.#place = new JsonPlace();
    this.#name = undefined;
  }

  #read(byte: number): void {
    const wasInString = this.#place.isInString;
    this.#place.push(byte);
    if (this.#place.depth !== 1) return;
    if (!wasInString && byte === QUOTE) this.#text = "";
    else if (this.#place.isInString) this.#add(byte);
    else if (wasInString) this.wasSeen ||= this.#name === "type" && this.types.has(this.#text);
    else if (byte === COLON) this.#name = this.#text;
    else if (byte === COMMA) this.#name = undefined;
  }

  #add(byte: number): void {
    if (this.#text.length <= KEPT_CHARACTERS) this.#text += String.fromCharCode(byte);
  }
}

/** Begins a final event of the API of chats. Quotes and line ends in the text of a model are escaped, so it cannot contain this. */
const CHAT_END = /[\r\n]data: ?(?:\[DONE\]|\{"error")/;
/** more characters than the longest match has */
const OVERLAP = 64;

class UnframedEventStream implements UnframedEnd {
  /** the end of what was pushed */
  #last = "\n";
  #hasFinalEvent = false;
  readonly #finalType: FinalType | undefined;

  constructor(dialect: Dialect) {
    this.#finalType = dialect === "chat" ? undefined : new FinalType(FINAL_TYPES[dialect]);
  }

  push(piece: Uint8Array): void {
    const text = this.#last + Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1");
    this.#last = text.slice(-OVERLAP);
    if (!this.#finalType) this.#hasFinalEvent ||= CHAT_END.test(text);
    else for (const byte of piece) this.#finalType.push(byte);
  }

  get isComplete(): boolean {
    const hasFinalEvent = this.#finalType?.wasSeen ?? this.#hasFinalEvent;
    return hasFinalEvent && isBetweenEvents(this.#last.slice(-BOUNDARY_BYTES));
  }
}

const [LETTER_D, LETTER_E] = [0x64, 0x65];

/**
 * A body that is called JSON or has no content type, although it may be an event stream; some gateways start a stream under the type of
 * their other responses. No JSON begins like an event: with `data`, `event` or the colon of a comment.
 */
class UnframedGuess implements UnframedEnd {
  readonly #json = new UnframedJson();
  readonly #events: UnframedEventStream;
  #firstByte: number | undefined;

  constructor(
    dialect: Dialect,
    private readonly isCalledJson: boolean,
  ) {
    this.#events = new UnframedEventStream(dialect);
  }

  push(piece: Uint8Array): void {
    this.#firstByte ??= piece.find((byte) => byte > SPACE);
    if (this.#isEventStream) this.#events.push(piece);
    else this.#json.push(piece);
  }

  get isComplete(): boolean {
    if (this.#isEventStream) return this.#events.isComplete;
    const isJson = this.isCalledJson || this.#firstByte === OPEN_BRACE || this.#firstByte === OPEN_BRACKET;
    return !isJson || this.#json.isComplete;
  }

  get #isEventStream(): boolean {
    return this.#firstByte === LETTER_D || this.#firstByte === LETTER_E || this.#firstByte === COLON;
  }
}
