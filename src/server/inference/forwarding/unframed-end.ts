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

/** The events with which the APIs end a stream. Quotes in the text of a model are escaped, so it cannot contain them. */
const FINAL_EVENTS: Readonly<Record<Dialect, RegExp>> = {
  chat: /[\r\n]data: ?(?:\[DONE\]|\{"error")/,
  messages: /"type" ?: ?"(?:message_stop|error)"/,
  responses: /"type" ?: ?"(?:response\.(?:completed|incomplete|failed)|error)"/,
};
/** more characters than the longest match has */
const OVERLAP = 64;

class UnframedEventStream implements UnframedEnd {
  /** the end of what was pushed */
  #last = "\n";
  #hasFinalEvent = false;

  constructor(private readonly dialect: Dialect) {}

  push(piece: Uint8Array): void {
    const text = this.#last + Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1");
    this.#hasFinalEvent ||= FINAL_EVENTS[this.dialect].test(text);
    this.#last = text.slice(-OVERLAP);
  }

  get isComplete(): boolean {
    return this.#hasFinalEvent && isBetweenEvents(this.#last.slice(-BOUNDARY_BYTES));
  }
}

const [SPACE, QUOTE, BACKSLASH] = [0x20, 0x22, 0x5c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Complete when every bracket and string is closed. A number or a word that is cut short looks complete, but no API answers with one. */
class UnframedJson implements UnframedEnd {
  #depth = 0;
  #hasBegun = false;
  #isInString = false;
  #isEscaped = false;

  push(piece: Uint8Array): void {
    for (const byte of piece) {
      if (this.#isInString) this.#passString(byte);
      else this.#pass(byte);
    }
  }

  get isComplete(): boolean {
    return this.#hasBegun && this.#depth === 0 && !this.#isInString;
  }

  #passString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#isInString = false;
  }

  #pass(byte: number): void {
    this.#hasBegun ||= byte > SPACE;
    if (byte === QUOTE) this.#isInString = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#depth -= 1;
  }
}

const [LETTER_D, LETTER_E, COLON] = [0x64, 0x65, 0x3a];

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
