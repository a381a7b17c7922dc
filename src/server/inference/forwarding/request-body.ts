// The body of a request to the upstream. A body of a moderate, declared length is read whole first, so that the upstream never gets
// half a request and the request can be repeated. Any other body is streamed and counted.
import { ModelScanner } from "../../../domain/inference/bodies/model-scanner.ts";
import type { ProxySettings } from "../../../domain/inference/settings.ts";
import { ChunkLimit } from "../../http/bodies/body-end.ts";
import { declaredBytes } from "../declared-bytes.ts";
import { CallStopped, type OpenCall } from "./open-call.ts";

/** Time without a byte from the client after which its request is refused. */
export const CLIENT_SILENCE_MS = 30_000;
/** Bytes of a streamed body that are searched for its model. */
const MODEL_SEARCH_BYTES = 64 * 1024;
/** Bodies up to this size are read in one call. That costs less but reports no progress, so the silence limit applies to the whole body. */
const SMALL_BYTES = 16 * 1024;

export interface TakenBody {
  /** undefined without a body */
  content: ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | undefined;
  /** the header of a streamed body whose length was declared */
  length: string | undefined;
  /** whether `content` can be sent twice */
  isWhole: boolean;
  /** searches the body, or its first MODEL_SEARCH_BYTES */
  scanner: ModelScanner | undefined;
}

const NO_BODY: TakenBody = { content: undefined, length: undefined, isWhole: true, scanner: undefined };

/** Memory for buffered bodies, shared by all requests. */
export class BufferBudget {
  #used = 0;

  constructor(private readonly bytesMax: number) {}

  get used(): number {
    return this.#used;
  }

  /** @returns false if it does not fit */
  reserve(bytes: number): boolean {
    if (this.#used + bytes > this.bytesMax) return false;
    this.#used += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}

export interface BodyOptions {
  settings: Pick<ProxySettings, "bufferBytes" | "maxBodyBytes" | "modelPolicy">;
  budget: BufferBudget;
  nowMs: () => number;
}

/** @returns the body; not a promise if it has already arrived @throws CallStopped; the runtime's error if the client leaves */
export function takeBody(open: OpenCall, options: BodyOptions): TakenBody | Promise<TakenBody> {
  const { request } = open.call;
  const declared = declaredBytes(request.headers);
  const isChunked = declared === undefined && request.headers.has("transfer-encoding");
  const length = declared ?? 0;
  const hasBody = request.method !== "GET" && (isChunked || length > 0);
  if (!hasBody) return NO_BODY;
  const { settings, budget } = options;
  if (isChunked || length > settings.bufferBytes || !budget.reserve(length))
    return stream(open, declared, options);
  open.heldBytes = length;
  open.bodyAwaitedMs = options.nowMs();
  const content =
    length <= SMALL_BYTES ? open.orStopped(request.arrayBuffer()) : readWhole(open, length, options);
  return content instanceof Promise
    ? content.then((whole) => taken(open, whole, options))
    : taken(open, content, options);
}

/** @param content the whole body */
function taken(
  open: OpenCall,
  content: ArrayBuffer | Uint8Array<ArrayBuffer>,
  options: BodyOptions,
): TakenBody {
  open.bodyAwaitedMs = undefined;
  open.requestBytes = content.byteLength;
  const scanner = scannerFor(options);
  scanner.push(content instanceof Uint8Array ? content : new Uint8Array(content));
  open.bodyModel = scanner.model;
  return { content, length: undefined, isWhole: true, scanner };
}

/** A request with two models must not evade the policy on models. */
const scannerFor = ({ settings }: BodyOptions): ModelScanner =>
  new ModelScanner(settings.modelPolicy !== "off");

async function readWhole(
  open: OpenCall,
  length: number,
  { nowMs }: BodyOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = bodyReader(open.call.request);
  const content = new Uint8Array(length);
  let at = 0;
  for (;;) {
    const { done, value } = await open.orStopped(reader.read());
    if (done) break;
    content.set(value, at);
    at += value.length;
    open.bodyAwaitedMs = nowMs();
  }
  return content.subarray(0, at);
}

function bodyReader(request: Request): ReadableStreamDefaultReader<Uint8Array> {
  if (!request.body) throw new Error("the runtime gave no body");
  return request.body.getReader();
}

/** Reads enough to find the model. The upstream then reads the rest at its own pace. */
async function stream(
  open: OpenCall,
  declared: number | undefined,
  options: BodyOptions,
): Promise<TakenBody> {
  const length = declared === undefined ? undefined : String(declared);
  const source = new CountedBody(open, options);
  if (options.settings.modelPolicy !== "off") await source.readAhead();
  return { content: source.stream(), length, isWhole: false, scanner: source.scanner };
}

/** A body that is counted, searched for its model, and watched for silence while it passes. */
class CountedBody {
  readonly scanner: ModelScanner;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #ahead: Uint8Array[] = [];
  readonly #chunks = new ChunkLimit();
  #isDone = false;

  constructor(
    private readonly open: OpenCall,
    private readonly options: BodyOptions,
  ) {
    this.#reader = bodyReader(open.call.request);
    this.scanner = scannerFor(options);
  }

  async readAhead(): Promise<void> {
    while (!this.#isDone && this.scanner.model === undefined && !this.scanner.isUnreadable) {
      if (this.open.requestBytes >= MODEL_SEARCH_BYTES) break;
      const piece = await this.open.orStopped(this.#next());
      if (piece) this.#ahead.push(piece);
    }
  }

  stream(): ReadableStream<Uint8Array> {
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      const piece = this.#ahead.shift() ?? (this.#isDone ? undefined : await this.#next());
      if (piece) controller.enqueue(piece);
      else controller.close();
    };
    const cancel = () => this.#reader.cancel();
    return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  }

  /** @returns undefined at the end @throws CallStopped past the limit, or when the client has left */
  async #next(): Promise<Uint8Array | undefined> {
    const { open, options } = this;
    open.bodyAwaitedMs = options.nowMs();
    const { done, value } = await this.#reader.read().catch(() => {
      open.stop({ outcome: "client_closed" });
      throw new CallStopped();
    });
    open.bodyAwaitedMs = undefined;
    open.bodyMovedMs = options.nowMs();
    this.#isDone = done;
    if (done) return undefined;
    if (!this.#chunks.allows(value)) this.#refuse("inference.tiny_chunks");
    const isSearched = options.settings.modelPolicy !== "off" || open.requestBytes < MODEL_SEARCH_BYTES;
    open.requestBytes += value.length;
    if (open.requestBytes > options.settings.maxBodyBytes) this.#refuse("inference.too_large");
    if (isSearched) this.#search(value);
    return value;
  }

  #search(piece: Uint8Array): void {
    this.scanner.push(piece);
    this.open.bodyModel ??= this.scanner.model;
    const isSecond = this.scanner.isUnreadable && this.scanner.model !== undefined;
    if (!isSecond || this.options.settings.modelPolicy === "off") return;
    if (this.options.settings.modelPolicy === "refuse") this.#refuse("inference.model_unreadable");
    this.open.refusal = "would_refuse";
  }

  #refuse(reason: "inference.too_large" | "inference.tiny_chunks" | "inference.model_unreadable"): never {
    this.open.stop({ outcome: "refused", reason });
    throw new CallStopped();
  }
}
