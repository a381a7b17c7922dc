// Finds the member `model` at the top level of a JSON body without parsing the prompts. It reads pieces as they arrive, skips
// strings with the runtime's native search, and stops as early as possible.

/** Maximum length of a value; a longer one counts as unreadable. */
export const MODEL_CHARACTERS_MAX = 512;
/**
 * Members that let LiteLLM, or a provider behind it, use another model than `model`: models to try next, settings of its router, and
 * members that replace those of the request.
 */
const OTHER_MODELS: ReadonlySet<string> = new Set([
  "fallbacks",
  "context_window_fallbacks",
  "content_policy_fallbacks",
  "context_window_fallback_dict",
  "router_settings_override",
  "user_config",
  "model_list",
  "models",
  "extra_body",
]);
/** Bytes of an escaped character, because any character of a string may be escaped. */
const ESCAPE_BYTES = 6;
/** A longer key is not among those above. */
const KEY_BYTES_MAX = ESCAPE_BYTES * Math.max(...[...OTHER_MODELS].map(({ length }) => length)) + 1;
const VALUE_BYTES_MAX = ESCAPE_BYTES * MODEL_CHARACTERS_MAX;

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const [SPACE, TAB, LINE_FEED, CARRIAGE_RETURN] = [0x20, 0x09, 0x0a, 0x0d];

/** A string that is read: its bytes between the quotes. At the maximum length it is too long, and the rest is skipped. */
interface KeptString {
  readonly bytes: number[];
  readonly bytesMax: number;
}
const SKIPPED: KeptString = { bytes: [], bytesMax: 0 };

/** The kind of the next byte at the top level. */
type Place = "before" | "key" | "colon" | "value" | "after";

export class ModelScanner {
  /** the first value found */
  model: string | undefined;
  /** whether the body is not a JSON object, names several models, or has a model that is not a usable string */
  isUnreadable = false;
  #isDone = false;
  #depth = 0;
  #place: Place = "before";
  #isModelNext = false;
  /** the string being read; undefined outside of strings */
  #string: KeptString | undefined;
  #isEscaped = false;
  #offset = 0;

  /** @param isThorough whether to look for further models too, in a repeated member and in OTHER_MODELS */
  constructor(private readonly isThorough = false) {}

  /** @returns whether more bytes could change the result */
  push(bytes: Uint8Array): boolean {
    let at = 0;
    while (at < bytes.length && !this.#isDone)
      at = this.#string ? this.#inString(bytes, at) : this.#byte(bytes, at);
    this.#offset += bytes.length;
    return !this.#isDone;
  }

  /** @returns the position after the bytes that were read */
  #byte(bytes: Uint8Array, at: number): number {
    const byte = bytes[at];
    switch (byte) {
      case SPACE:
      case TAB:
      case LINE_FEED:
      case CARRIAGE_RETURN:
        break;
      case QUOTE:
        this.#beginString();
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#descend(byte);
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.#depth -= 1;
        if (this.#depth <= 0) this.#isDone = true;
        else if (this.#depth === 1) this.#place = "after";
        break;
      case COLON:
        if (this.#depth === 1) this.#place = "value";
        break;
      case COMMA:
        if (this.#depth === 1) this.#place = "key";
        break;
      default:
        this.#other(byte, at);
    }
    return at + 1;
  }

  #descend(byte: number): void {
    if (this.#depth === 0 && byte === OPEN_BRACKET) this.#giveUp();
    if (this.#depth === 1) this.#refuseValue();
    this.#depth += 1;
    if (this.#depth === 1) this.#place = "key";
  }

  #other(byte: number | undefined, at: number): void {
    if (this.#depth === 1 && this.#place !== "value") this.#giveUp(); // not JSON, such as UTF-16
    if (this.#depth === 1) this.#refuseValue();
    const isMark = this.#offset + at < BYTE_ORDER_MARK.length && byte === BYTE_ORDER_MARK[this.#offset + at];
    if (this.#depth === 0 && !isMark) this.#giveUp();
  }

  /** A model that is a number, a list or the like. */
  #refuseValue(): void {
    if (this.#place === "value" && this.#isModelNext) this.#giveUp();
    this.#isModelNext = false;
  }

  #giveUp(): void {
    this.isUnreadable = true;
    this.#isDone = true;
  }

  #beginString(): void {
    if (this.#depth === 0) this.#giveUp();
    const isKey = this.#depth === 1 && this.#place === "key";
    const isModel = this.#depth === 1 && this.#place === "value" && this.#isModelNext;
    this.#string =
      isKey || isModel ? { bytes: [], bytesMax: isKey ? KEY_BYTES_MAX : VALUE_BYTES_MAX } : SKIPPED;
  }

  #inString(bytes: Uint8Array, start: number): number {
    const kept = this.#string;
    let at = start;
    for (; kept && kept.bytes.length < kept.bytesMax && at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE && !this.#isEscaped) return this.#endString(at + 1);
      kept.bytes.push(byte);
      this.#isEscaped = byte === BACKSLASH && !this.#isEscaped;
    }
    return this.#skipString(bytes, at);
  }

  /** A quote after an even number of backslashes ends the string. */
  #skipString(bytes: Uint8Array, start: number): number {
    let from = start;
    while (from < bytes.length) {
      const quote = bytes.indexOf(QUOTE, from);
      const end = quote < 0 ? bytes.length : quote;
      if (end > from || quote >= 0)
        this.#isEscaped = isEscapedAt(bytes, { from, end, wasEscaped: this.#isEscaped });
      if (quote < 0) return bytes.length;
      if (!this.#isEscaped) return this.#endString(quote + 1);
      this.#isEscaped = false;
      from = quote + 1;
    }
    return from;
  }

  /** @param next position after the closing quote */
  #endString(next: number): number {
    const string = this.#string;
    this.#string = undefined;
    if (this.#depth !== 1) return next;
    if (this.#place === "key") {
      const key = textOf(string) ?? "";
      this.#isModelNext = key === "model";
      this.#place = "colon";
      if (this.isThorough && OTHER_MODELS.has(key)) this.#giveUp();
    } else if (this.#place === "value") {
      if (this.#isModelNext) this.#found(textOf(string));
      this.#isModelNext = false;
      this.#place = "after";
    }
    return next;
  }

  #found(model: string | undefined): void {
    const isUsable = model !== undefined && model !== "" && model.length <= MODEL_CHARACTERS_MAX;
    if (!isUsable || this.model !== undefined) {
      this.#giveUp();
    } else {
      this.model = model;
      this.#isDone = !this.isThorough;
    }
  }
}

/** @returns whether the byte at `end` is escaped */
function isEscapedAt(
  bytes: Uint8Array,
  { from, end, wasEscaped }: { from: number; end: number; wasEscaped: boolean },
): boolean {
  let first = end;
  while (first > from && bytes[first - 1] === BACKSLASH) first -= 1;
  const isOdd = (end - first) % 2 === 1;
  return first === from && wasEscaped ? !isOdd : isOdd;
}

/** @returns whether the byte is printable ASCII and not a backslash */
const isPlain = (byte: number): boolean => byte >= SPACE && byte < 0x7f && byte !== BACKSLASH;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** @returns undefined if it is too long or not a JSON string */
function textOf(string: KeptString | undefined): string | undefined {
  if (!string || string.bytes.length >= string.bytesMax) return undefined;
  if (string.bytes.every(isPlain)) return String.fromCharCode(...string.bytes); // the usual case, and much faster
  try {
    const text: unknown = JSON.parse(`"${decoder.decode(Uint8Array.from(string.bytes))}"`);
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}
