// Reads HTTP/1.1 requests from the bytes of one connection, for the scripted upstream.
import type { RequestHead } from "./upstream.ts";

/** Receives one request's body. */
interface Receiver {
  arrive(bytes: Buffer): void;
  complete(): void;
}

/** The rest of a body: a number of bytes, or chunks. */
type Remaining = { kind: "bytes"; count: number } | { kind: "chunks" };

const HEAD_END = Buffer.from("\r\n\r\n");
const LINE_END = Buffer.from("\r\n");

export class RequestReader {
  #buffered: Buffer = Buffer.alloc(0);
  #receiver: Receiver | undefined;
  #remaining: Remaining = { kind: "bytes", count: 0 };

  /** @param begin called with each head */
  constructor(private readonly begin: (head: RequestHead) => Receiver) {}

  read(bytes: Buffer): void {
    this.#buffered = this.#buffered.length === 0 ? bytes : Buffer.concat([this.#buffered, bytes]);
    while (this.#receiver ? this.#readBody(this.#receiver) : this.#readHead());
  }

  /** @returns whether a head was complete */
  #readHead(): boolean {
    const end = this.#buffered.indexOf(HEAD_END);
    if (end < 0) return false;
    const head = parseHead(this.#buffered.toString("latin1", 0, end));
    this.#buffered = this.#buffered.subarray(end + HEAD_END.length);
    this.#receiver = this.begin(head);
    this.#remaining = framingOf(head);
    return true;
  }

  /** @returns whether something was read that may be followed by more */
  #readBody(receiver: Receiver): boolean {
    if (this.#remaining.kind === "chunks") return this.#readChunk(receiver);
    const taken = this.#take(Math.min(this.#remaining.count, this.#buffered.length));
    if (taken.length > 0) receiver.arrive(taken);
    this.#remaining.count -= taken.length;
    if (this.#remaining.count > 0) return false;
    this.#finish(receiver);
    return true;
  }

  /** Waits for a whole chunk, which is enough for tests. */
  #readChunk(receiver: Receiver): boolean {
    const lineEnd = this.#buffered.indexOf(LINE_END);
    if (lineEnd < 0) return false;
    const size = Number.parseInt(this.#buffered.toString("latin1", 0, lineEnd), 16);
    const begin = lineEnd + LINE_END.length;
    if (this.#buffered.length < begin + size + LINE_END.length) return false;
    if (size > 0) receiver.arrive(this.#buffered.subarray(begin, begin + size));
    this.#take(begin + size + LINE_END.length);
    if (size === 0) this.#finish(receiver);
    return true;
  }

  #take(count: number): Buffer {
    const taken = this.#buffered.subarray(0, count);
    this.#buffered = this.#buffered.subarray(count);
    return taken;
  }

  #finish(receiver: Receiver): void {
    this.#receiver = undefined;
    receiver.complete();
  }
}

function parseHead(text: string): RequestHead {
  const [requestLine = "", ...lines] = text.split("\r\n");
  const [method = "", target = ""] = requestLine.split(" ");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  return { method, target, headers };
}

function framingOf({ headers }: RequestHead): Remaining {
  const headerOf = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
  if (headerOf("transfer-encoding")?.toLowerCase() === "chunked") return { kind: "chunks" };
  return { kind: "bytes", count: Number(headerOf("content-length") ?? 0) };
}
