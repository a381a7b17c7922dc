// Signed requests to an object store through platform/outbound: with time limits, without redirects or content codings, retried
// at most once, and counted. bucket.ts has the operations.

import type { Clock } from "../clock.ts";
import { SECOND_MS } from "../clock.ts";
import { DomainError } from "../errors.ts";
import { discardBody } from "../outbound/discard-body.ts";
import { OUTBOUND_TIMEOUT_MAX_MS, type Outbound } from "../outbound/outbound.ts";
import { failureIn, invalid, networkFailure, refused, StoreFailure, unreachable } from "./failures.ts";
import { errorCodeIn } from "./listing.ts";

/** for the headers of a response, and for a body that is not an object; all attempts together */
export const RESPONSE_TIMEOUT_MS = 10 * SECOND_MS;
/** for a whole object of up to 128 MiB, in either direction: 18 Mbit/s */
export const TRANSFER_TIMEOUT_MS = 60 * SECOND_MS;
const TRANSFER_BYTES = 128 * 1024 * 1024;
/** of a response that is not an object: a list of 1,000 keys has at most about 1.5 MB */
export const RESPONSE_BYTES_MAX = 4 * 1024 * 1024;

export const STORE_OPERATIONS = ["head", "get", "put", "delete", "list", "head_bucket"] as const;
export type StoreOperation = (typeof STORE_OPERATIONS)[number];

/** `missing`: no such object, or no such bucket; `refused`: another 4xx; `invalid`: a response that S3 does not define */
export const STORE_OUTCOMES = ["answered", "missing", "refused", "invalid", "unreachable"] as const;
type StoreOutcome = (typeof STORE_OUTCOMES)[number];

/** One call with all its attempts, for metrics. */
export interface StoreCall {
  operation: StoreOperation;
  outcome: StoreOutcome;
  /** until the headers of the response */
  durationMs: number;
  /** what failed, for the log */
  failure?: string | undefined;
}

export interface RequestDependencies {
  outbound: Pick<Outbound, "fetch">;
  /** name of the store among the destinations of `outbound` */
  destination: string;
  clock: Clock;
  /** PEM certificates that are trusted in addition to the built-in ones */
  ca?: string | undefined;
  observe?: ((call: StoreCall) => void) | undefined;
  /** default: RESPONSE_TIMEOUT_MS */
  responseTimeoutMs?: number | undefined;
}

export interface StoreMessage {
  method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** creates a new signature for each attempt */
  url: () => string;
  headers?: Record<string, string>;
  /** pieces are sent once, as they arrive */
  body?: Uint8Array<ArrayBuffer> | AsyncIterable<Uint8Array>;
  /** the time limit of a transfer, which replaces the limit of a response: `transferMs` */
  transferTimeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** @returns the time limit for an object, at the rate of TRANSFER_TIMEOUT_MS */
export const transferMs = (sizeBytes: number): number =>
  Math.min(
    Math.max(TRANSFER_TIMEOUT_MS, Math.ceil((sizeBytes / TRANSFER_BYTES) * TRANSFER_TIMEOUT_MS)),
    OUTBOUND_TIMEOUT_MAX_MS,
  );

export class StoreRequests {
  #clockOffsetMs: number | undefined;

  constructor(private readonly dependencies: RequestDependencies) {}

  /** How far the store's clock is ahead of ours, by the header `Date`; undefined before the first response that has one. */
  get clockOffsetMs(): number | undefined {
    return this.#clockOffsetMs;
  }

  /**
   * @returns the successful response, whose body the caller reads; undefined for 404
   * @throws DomainError `object_store.unreachable`, `object_store.refused`, `object_store.invalid`
   */
  async send(operation: StoreOperation, message: StoreMessage): Promise<Response | undefined> {
    const startMs = performance.now();
    const observe = (outcome: StoreOutcome, failure?: string) => {
      const durationMs = performance.now() - startMs;
      this.dependencies.observe?.({ operation, outcome, durationMs, failure });
    };
    try {
      const response = await this.#attempts(message);
      observe(response ? "answered" : "missing");
      return response;
    } catch (error) {
      const failure = failureIn(error);
      if (failure) observe(outcomeOf(error), failure.message);
      throw error;
    }
  }

  /** A streamed body is used up after the first attempt. */
  async #attempts(message: StoreMessage): Promise<Response | undefined> {
    const { responseTimeoutMs = RESPONSE_TIMEOUT_MS } = this.dependencies;
    const deadlineMs = performance.now() + responseTimeoutMs;
    try {
      return await this.#attempt(message, responseTimeoutMs);
    } catch (error) {
      const leftMs = Math.floor(deadlineMs - performance.now());
      const isRepeatable = error instanceof DomainError && error.reason === "object_store.unreachable";
      const isGone = message.body !== undefined && !(message.body instanceof Uint8Array);
      if (!isRepeatable || leftMs < 1 || isGone || message.signal?.aborted) throw error;
      return await this.#attempt(message, leftMs);
    }
  }

  async #attempt(message: StoreMessage, responseTimeoutMs: number): Promise<Response | undefined> {
    const response = await this.#answer(message, responseTimeoutMs);
    this.#noteClock(response);
    const { status } = response;
    if (response.ok) {
      if (!response.headers.has("content-encoding")) return response;
      await discardBody(response);
      throw invalid("the response has an unrequested content coding");
    }
    const code = errorCodeIn(await textOf(response).catch(() => ""));
    if (status === 404 && code !== "NoSuchBucket") return undefined;
    const failure = new StoreFailure(`status ${status}${code ? ` ${code}` : ""}`, status, code);
    if (status >= 500 || status === 429) throw unreachable(failure);
    if (status >= 400) throw refused(failure);
    throw invalid(`status ${status}`);
  }

  /** The headers must arrive within the limit of a response; the body of a transfer may take longer. */
  async #answer(
    { method, url, headers, body, transferTimeoutMs, signal }: StoreMessage,
    responseTimeoutMs: number,
  ): Promise<Response> {
    const { outbound, destination, ca } = this.dependencies;
    const signedUrl = url();
    const silence = new AbortController();
    const timer = setTimeout(
      () => silence.abort(new DOMException("silent", "TimeoutError")),
      responseTimeoutMs,
    );
    const [whole, pieces] = body instanceof Uint8Array ? [body] : [undefined, body];
    const source = pieces && new Source(pieces, () => timer.refresh());
    const sent = whole ?? source?.stream;
    try {
      return await outbound.fetch(destination, signedUrl, {
        method,
        headers: { "accept-encoding": "identity", ...headers },
        ...(sent && { body: sent }),
        timeoutMs: transferTimeoutMs ?? responseTimeoutMs,
        signal: signal ? AbortSignal.any([silence.signal, signal]) : silence.signal,
        tls: { ca, linkLocal: "allowed" },
        decompress: false,
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (source?.failed) throw source.failed.error;
      if (error instanceof DomainError && error.reason === "outbound.redirected")
        throw invalid(error.message);
      throw unreachable(networkFailure(error));
    } finally {
      clearTimeout(timer);
    }
  }

  #noteClock({ headers }: Response): void {
    const atMs = Date.parse(headers.get("date") ?? "");
    if (Number.isFinite(atMs)) this.#clockOffsetMs = atMs - this.dependencies.clock.nowMs();
  }
}

class Source {
  readonly stream: ReadableStream<Uint8Array>;
  /** the error that ended the pieces, if any */
  failed: { error: unknown } | undefined;

  /** @param onPiece called for each piece that is read, which restarts the time limit */
  constructor(pieces: AsyncIterable<Uint8Array>, onPiece: () => void) {
    const iterator = pieces[Symbol.asyncIterator]();
    this.stream = new ReadableStream({
      pull: async (controller) => {
        try {
          const { done, value } = await iterator.next();
          onPiece();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          this.failed = { error };
          throw error;
        }
      },
      cancel: async () => void (await iterator.return?.()),
    });
  }
}

const OUTCOMES: Readonly<Record<string, StoreOutcome>> = {
  "object_store.refused": "refused",
  "object_store.invalid": "invalid",
};

const outcomeOf = (error: unknown): StoreOutcome =>
  (error instanceof DomainError ? OUTCOMES[error.reason] : undefined) ?? "unreachable";

/** @throws DomainError `object_store.invalid` for more than RESPONSE_BYTES_MAX; `object_store.unreachable` */
export async function boundedBytes(response: Response): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of bytesOf(response)) {
    sizeBytes += piece.length;
    if (sizeBytes > RESPONSE_BYTES_MAX)
      throw invalid(`the response has more than ${RESPONSE_BYTES_MAX} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** @throws like `boundedBytes` */
export const textOf = async (response: Response): Promise<string> =>
  new TextDecoder().decode(await boundedBytes(response));

/** @throws (while reading) DomainError `object_store.unreachable` if the body breaks off */
export async function* bytesOf({ body }: Response): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? [];
  } catch (error) {
    throw unreachable(networkFailure(error));
  }
}
