// Splits a transcript into records and keeps only one at a time: the lines of a JSONL file, or the messages of an export, which
// is one JSON document.
import { RECORD_BYTES_MAX, RECORDS_MAX } from "./limits.ts";

type Bytes = AsyncIterable<Uint8Array>;

export interface RawRecord {
  /** offset of its first byte */
  offset: number;
  sizeBytes: number;
  /** undefined if it is too large, or before the wanted offset */
  bytes: Uint8Array | undefined;
}

/** Replaces all records after RECORDS_MAX. */
export type OmittedRecords = "rest";

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** Collects the bytes of one record, up to RECORD_BYTES_MAX. */
class Collector {
  #parts: Uint8Array[] = [];
  #sizeBytes = 0;

  /** @param from offset before which records are not kept */
  constructor(
    private readonly from: number,
    private offset = 0,
  ) {}

  begin(offset: number): void {
    this.offset = offset;
    this.#parts = [];
    this.#sizeBytes = 0;
  }

  add(piece: Uint8Array): void {
    this.#sizeBytes += piece.byteLength;
    if (this.offset < this.from || this.#sizeBytes > RECORD_BYTES_MAX) this.#parts = [];
    // Copied, because the stream may write to the piece again.
    else this.#parts.push(piece.slice());
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  end(): RawRecord {
    const isKept = this.offset >= this.from && this.#sizeBytes <= RECORD_BYTES_MAX;
    const bytes = isKept ? Buffer.concat(this.#parts) : undefined;
    return { offset: this.offset, sizeBytes: this.#sizeBytes, bytes };
  }
}

/** @returns the non-empty lines, starting with the line at `from`; earlier lines are skipped */
export async function* lines(file: Bytes, from: number): AsyncGenerator<RawRecord | OmittedRecords> {
  const line = new Collector(from);
  let [offset, records] = [0, 0];
  for await (const piece of file) {
    for (let start = 0; start < piece.byteLength; ) {
      const end = piece.indexOf(LINE_FEED, start);
      line.add(piece.subarray(start, end === -1 ? undefined : end));
      start = end === -1 ? piece.byteLength : end + 1;
      if (end === -1) continue;
      // Empty lines count too, because skipping them also takes time.
      records += 1;
      if (records > RECORDS_MAX) return yield "rest";
      if (line.sizeBytes > 0) {
        const record = line.end();
        if (record.offset >= from) yield record;
      }
      line.begin(offset + start);
    }
    offset += piece.byteLength;
  }
  if (line.sizeBytes === 0) return;
  const last = line.end();
  if (last.offset >= from) yield last;
}

/** @returns the objects in the list `messages` of a JSON document, starting with the object at `from` */
export async function* messages(file: Bytes, from: number): AsyncGenerator<RawRecord | OmittedRecords> {
  const found = new MessageFinder(from);
  let offset = 0;
  let records = 0;
  for await (const piece of file) {
    for (const record of found.in(piece, offset)) {
      records += 1;
      if (records > RECORDS_MAX) return yield "rest";
      if (record.offset >= from) yield record;
    }
    offset += piece.byteLength;
  }
}

/** Depths in the document: its object is 1, the list `messages` 2, and a message 3. */
const MESSAGE_DEPTH = 3;
const NAME = Buffer.from('messages"');

/** Scans JSON text byte by byte, and each string in one step. */
class MessageFinder {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** last string that ended at depth 1, up to the relevant length */
  #name = Buffer.alloc(0);
  #isInMessages = false;
  readonly #message: Collector;

  constructor(from: number) {
    this.#message = new Collector(from);
  }

  *in(piece: Uint8Array, pieceOffset: number): Generator<RawRecord> {
    let start = this.#isInMessage ? 0 : -1;
    for (let index = 0; index < piece.byteLength; index += 1) {
      const byte = piece[index];
      if (this.#isInString) {
        index = this.#passString(piece, index);
        continue;
      }
      if (byte === QUOTE) {
        this.#isInString = true;
        if (this.#depth === 1) this.#name = Buffer.alloc(0);
      } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        this.#depth += 1;
        if (this.#depth === 2) this.#isInMessages = byte === OPEN_LIST && this.#name.equals(NAME);
        if (this.#depth !== MESSAGE_DEPTH || !this.#isInMessages) continue;
        this.#message.begin(pieceOffset + index);
        start = index;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        const isEnd = this.#isInMessage && this.#depth === MESSAGE_DEPTH;
        this.#depth -= 1;
        if (!isEnd) continue;
        this.#message.add(piece.subarray(start, index + 1));
        start = -1;
        yield this.#message.end();
      }
    }
    if (start !== -1) this.#message.add(piece.subarray(start));
  }

  get #isInMessage(): boolean {
    return this.#isInMessages && this.#depth >= MESSAGE_DEPTH;
  }

  /** @returns the index of the string's last byte in this piece */
  #passString(piece: Uint8Array, from: number): number {
    let index = from;
    for (; index < piece.byteLength; index += 1) {
      if (this.#isEscaped) {
        this.#isEscaped = false;
        continue;
      }
      const byte = piece[index];
      if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) {
        this.#isInString = false;
        break;
      }
    }
    const end = Math.min(index, piece.byteLength - 1);
    if (this.#depth === 1 && this.#name.byteLength <= NAME.byteLength)
      this.#name = Buffer.concat([
        this.#name,
        piece.subarray(from, Math.min(end + 1, from + NAME.byteLength + 1)),
      ]);
    return end;
  }
}

/** @returns whether objects and lists are nested at most `depthMax` deep */
export function isWithinDepth(bytes: Uint8Array, depthMax: number): boolean {
  let depth = 0;
  for (let index = 0; index < bytes.byteLength; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) index = stringEnd(bytes, index);
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth += 1;
      if (depth > depthMax) return false;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
  }
  return true;
}

/** @returns the index of the closing quote, or the end */
function stringEnd(bytes: Uint8Array, start: number): number {
  let end = start + 1;
  for (; end < bytes.byteLength && bytes[end] !== QUOTE; end += 1) if (bytes[end] === BACKSLASH) end += 1;
  return end;
}
