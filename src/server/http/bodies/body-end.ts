// Ends an exchange whose request body is late, unread or chunked: how long an unauthenticated caller may take to send a body,
// when the connection closes after the response, and how finely a chunked body may be divided. body-text.ts reads bodies.
import { SECOND_MS, within } from "../../../platform/clock.ts";
import type { BodyTimes, Exchange } from "../exchange.ts";
import { HttpError } from "../problems/problem.ts";

export const BODY_TIMES: BodyTimes = {
  unauthenticatedMs: 25 * SECOND_MS,
  graceMs: 100,
  silentMs: 5 * SECOND_MS,
};

/**
 * Waits for a body. A caller with a valid credential has no deadline.
 * @throws HttpError 408 `request.too_slow`
 */
export async function readInTime(
  reading: Promise<Uint8Array<ArrayBuffer>>,
  { isAdmitted, bodyTimes }: Exchange,
): Promise<Uint8Array<ArrayBuffer>> {
  if (isAdmitted) return await reading;
  const read = await within(bodyTimes.unauthenticatedMs, reading);
  if (!read) throw tooSlow(bodyTimes);
  return read;
}

const tooSlow = ({ unauthenticatedMs }: BodyTimes): HttpError =>
  new HttpError(
    408,
    "request.too_slow",
    `the body did not arrive within ${unauthenticatedMs / SECOND_MS} seconds; send the request again`,
    { headers: { connection: "close" } },
  );

/**
 * Sends the response without leaving unread bytes of the request body on a reused connection. After a chunked request
 * the connection is closed: the runtime parses trailer lines (RFC 9112 section 7.1.2) as the next request and answers
 * 400, and a proxy would give that answer to another client.
 * @param request as it was routed
 * @source RFC 9112 section 9.6: a server that closes early keeps reading, or the client may lose the response
 */
export function endBody(
  request: Request,
  exchange: Pick<Exchange, "isAdmitted" | "bodyTimes">,
  response: Response,
): Response | Promise<Response> {
  const isChunked = request.headers.has("transfer-encoding");
  if (isChunked) response.headers.set("connection", "close");
  else if (request.bodyUsed || !(Number(request.headers.get("content-length")) > 0)) return response;
  else if (exchange.isAdmitted && !closesAfterResponse(request)) return response;
  return endUnread(request, exchange, response);
}

/** The runtime reads the rest of a body only on a connection that stays open. */
const closesAfterResponse = ({ headers }: Request): boolean =>
  headers.get("connection")?.toLowerCase().includes("close") === true;

/**
 * Reads the rest of the body. The runtime exposes no body for GET and HEAD, so their connection is closed instead. A
 * body with an active reader is left to that reader.
 */
async function endUnread(
  request: Request,
  { bodyTimes }: Pick<Exchange, "bodyTimes">,
  response: Response,
): Promise<Response> {
  const body = streamOf(request);
  if (!body || body.locked) return closeAfterResponse(response);
  const isWhole = discard(body, bodyTimes);
  const isWholeSoon = (await within(bodyTimes.graceMs, isWhole)) === true;
  return isWholeSoon ? response : closeAfterResponse(keepAlive(response, isWhole));
}

function closeAfterResponse(response: Response): Response {
  response.headers.set("connection", "close");
  return response;
}

/** @returns a response that is sent immediately but ends later, so that the connection closes after `until` */
function keepAlive(response: Response, until: Promise<unknown>): Response {
  if (!response.body) return response;
  const flush = async () => void (await until);
  return new Response(response.body.pipeThrough(new TransformStream({ flush })), response);
}

/**
 * A caller who has stopped sending may wait for the end of the response, so silence ends the reading.
 * @returns whether the body ended in time; false for too many small chunks
 */
async function discard(
  body: ReadableStream<Uint8Array>,
  { unauthenticatedMs, silentMs }: BodyTimes,
): Promise<boolean> {
  const reader = body.getReader();
  const limit = new ChunkLimit();
  let isWhole = true;
  const stop = () => {
    isWhole = false;
    reader.cancel().catch(() => {}); // the read below has failed too
  };
  const timer = setTimeout(stop, unauthenticatedMs);
  const silence = setTimeout(stop, silentMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      silence.refresh();
      if (!limit.allows(value)) stop(); // the next read ends
    }
  } catch {
    // the caller has disconnected, so no one receives the response
  } finally {
    clearTimeout(timer);
    clearTimeout(silence);
  }
  return isWhole;
}

/**
 * Hides the body from the framework. The framework checks for a body, and the runtime creates a stream for that check, which
 * costs as much as reading a body of known length. `readText` and `endBody` do not need the check.
 */
export function keepStreamReadable(request: Request): void {
  if (request.method === "GET" || !request.headers.has("content-length")) return;
  Object.defineProperty(request, "body", NO_STREAM);
}

const NO_STREAM = { value: null, configurable: true };

/** @returns the body that `keepStreamReadable` hid */
export function streamOf(request: Request): ReadableStream<Uint8Array> | null {
  Reflect.deleteProperty(request, "body");
  return request.body;
}

/** Number of chunks of any size that a body may have in a row. */
export const SMALL_CHUNKS_MAX = 4_000;
/** Bytes that allow one more chunk, up to SMALL_CHUNKS_MAX: large chunks do not earn an unlimited number of small ones. */
export const CHUNK_BYTES_MIN = 256;

/**
 * Counts the chunks of one body. The runtime passes each chunk to the service separately, which takes about a microsecond even for one
 * byte, so a body of tiny chunks would cost many times its bytes and delay all other requests.
 */
export class ChunkLimit {
  #left = SMALL_CHUNKS_MAX;

  /** @returns false once the body has too many small chunks */
  allows({ byteLength }: Uint8Array): boolean {
    this.#left = Math.min(SMALL_CHUNKS_MAX, this.#left + byteLength / CHUNK_BYTES_MIN) - 1;
    return this.#left >= 0;
  }
}

/** @returns the error for a body that `allows` stopped */
export const tinyChunks = () =>
  new HttpError(
    400,
    "request.tiny_chunks",
    `the body has too many small chunks; send it with Content-Length, or in chunks of at least ${CHUNK_BYTES_MIN} bytes`,
    { headers: { connection: "close" } },
  );
