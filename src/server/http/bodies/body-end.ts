// How the exchange ends when a request body is late, unread or chunked: how long a caller without a valid credential may take
// to send one, and when the connection is closed after the answer. Reading bodies is body-text.ts.
import { SECOND_MS } from "../../../platform/clock.ts";
import type { BodyTimes, Exchange } from "../exchange.ts";
import { HttpError } from "../problems/problem.ts";

export const BODY_TIMES: BodyTimes = { unauthenticatedMs: 25 * SECOND_MS, graceMs: 100 };

/**
 * Waits for a body. A caller with a valid credential has as long as the connection lasts.
 * @throws HttpError 408 `request.too_slow`
 */
export async function readInTime<T>(reading: Promise<T>, { isAdmitted, bodyTimes }: Exchange): Promise<T> {
  if (isAdmitted) return await reading;
  const read = await withTimeout(reading, bodyTimes.unauthenticatedMs);
  if (read === TIMED_OUT) throw tooSlow(bodyTimes);
  return read;
}

const TIMED_OUT = Symbol("late");

async function withTimeout<T>(work: Promise<T>, timeMs: number): Promise<T | typeof TIMED_OUT> {
  const patience = Promise.withResolvers<typeof TIMED_OUT>();
  const timer = setTimeout(() => patience.resolve(TIMED_OUT), timeMs);
  try {
    return await Promise.race([work, patience.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const tooSlow = ({ unauthenticatedMs }: BodyTimes): HttpError =>
  new HttpError(
    408,
    "request.too_slow",
    `the body did not arrive within ${unauthenticatedMs / SECOND_MS} seconds; send the request again`,
    { headers: { connection: "close" } },
  );

/**
 * Gives the answer to a request that may have a body, in a way that leaves nothing of the body on a connection that is used
 * again. A connection is closed after a chunked request: the runtime takes trailer lines (RFC 9112 section 7.1.2) for the
 * next request and answers it with 400, and a proxy would give that answer to another client.
 * @param request as it was routed
 * @source RFC 9112 section 9.6: a server that closes early goes on reading, or the client may lose the answer
 */
export function endBody(
  request: Request,
  exchange: Exchange,
  response: Response,
): Response | Promise<Response> {
  const isChunked = request.headers.has("transfer-encoding");
  const isLimited = isChunked || (!exchange.isAdmitted && Number(request.headers.get("content-length")) > 0);
  if (!isLimited) return response;
  if (isChunked) response.headers.set("connection", "close");
  return request.bodyUsed ? response : endUnread(request, exchange, response);
}

/** The runtime gives GET and HEAD no body, so theirs cannot be waited for. */
async function endUnread(request: Request, { bodyTimes }: Exchange, response: Response): Promise<Response> {
  const body = streamOf(request);
  if (!body) return closeAfterAnswer(response);
  const isWhole = discard(body, bodyTimes.unauthenticatedMs);
  const isWholeSoon = (await withTimeout(isWhole, bodyTimes.graceMs)) === true;
  return isWholeSoon ? response : closeAfterAnswer(keepAlive(response, isWhole));
}

function closeAfterAnswer(response: Response): Response {
  response.headers.set("connection", "close");
  return response;
}

/** @returns an answer that is sent at once and ends later: the connection is closed when it ends */
function keepAlive(response: Response, until: Promise<unknown>): Response {
  if (!response.body) return response;
  const flush = async () => void (await until);
  return new Response(response.body.pipeThrough(new TransformStream({ flush })), response);
}

/** @returns whether the body ended within the time; also false when the caller went away */
async function discard(body: ReadableStream<Uint8Array>, timeMs: number): Promise<boolean> {
  const reader = body.getReader();
  let isWhole = true;
  const stop = () => {
    isWhole = false;
    reader.cancel().catch(() => {}); // the read below has failed, too
  };
  const timer = setTimeout(stop, timeMs);
  try {
    while (!(await reader.read()).done);
    return isWhole;
  } catch {
    return false; // nobody is left to hear of it
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The framework looks whether there is a body, and the runtime makes a stream to tell: that costs as much as reading one
 * whose length is known. So it is told that there is none; `readText` and `endBody` do not ask.
 */
export function keepStreamReadable(request: Request): void {
  if (request.method === "GET" || !request.headers.has("content-length")) return;
  Object.defineProperty(request, "body", NO_STREAM);
}

const NO_STREAM = { value: null, configurable: true };

/** @returns the body that `keepStreamReadable` hid */
function streamOf(request: Request): ReadableStream<Uint8Array> | null {
  Reflect.deleteProperty(request, "body");
  return request.body;
}
