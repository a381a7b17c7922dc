// Response helpers for successful responses, and the headers of every response.
import { setImmediate } from "node:timers/promises";
import { runInTurns, type Steps } from "../../platform/steps.ts";

/** Headers of every response that does not set its own. Pages set their own policy. */
const DEFAULT_HEADERS: readonly (readonly [string, string])[] = [
  ["x-content-type-options", "nosniff"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-resource-policy", "same-origin"],
];
const HSTS = "max-age=31536000";

/** @returns headers for a response that is sent often, including the default ones */
export const preparedHeaders = (headers: Readonly<Record<string, string>>): Headers =>
  new Headers({ ...Object.fromEntries(DEFAULT_HEADERS), ...headers });

/** Adds the missing default headers to a response. */
export function complete(
  response: Response,
  { requestId, secure }: { requestId: string; secure: boolean },
): Response {
  const { headers } = response;
  headers.set("x-request-id", requestId);
  if (secure) headers.set("strict-transport-security", HSTS);
  // A 304 refers to a response that had these headers and omits them (RFC 9110 section 15.4.5).
  if (response.status === 304) return response;
  for (const [name, value] of DEFAULT_HEADERS) if (!headers.has(name)) headers.set(name, value);
  return response;
}

/** Copying a Headers object costs a tenth of setting the headers one by one. */
const JSON_HEADERS = preparedHeaders({ "content-type": "application/json", "cache-control": "no-store" });

/** @returns 200 with JSON and `Cache-Control: no-store` */
export function json(
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): Response {
  const response = new Response(JSON.stringify(body), { status, headers: JSON_HEADERS });
  for (const name in headers) response.headers.set(name, headers[name] ?? "");
  return response;
}

/** Members of a list that are serialized in one turn. */
const LIST_SLICE = 500;

/** @returns `json` of a list; a long one is serialized in several turns of the event loop */
export async function jsonList<T>(items: readonly T[], toItem: (item: T) => unknown): Promise<Response> {
  const texts = await runInTurns(sliceTexts(items, toItem));
  return jsonBytes(Buffer.from(`[${texts.join(",")}]`));
}

function* sliceTexts<T>(items: readonly T[], toItem: (item: T) => unknown): Steps<string[]> {
  const texts: string[] = [];
  for (let at = 0; at < items.length; at += LIST_SLICE) {
    texts.push(JSON.stringify(items.slice(at, at + LIST_SLICE).map(toItem)).slice(1, -1));
    yield;
  }
  return texts;
}

/**
 * @param bytes serialized JSON
 * @returns 200 with these bytes and `Cache-Control: no-store`
 */
export function jsonBytes(bytes: Uint8Array<ArrayBuffer>, { etag }: { etag?: string } = {}): Response {
  const response = new Response(bytes, { headers: JSON_HEADERS });
  if (etag !== undefined) response.headers.set("etag", etag);
  return response;
}

/**
 * @param body a small object with at least one member
 * @param texts its other members, each as JSON. They may be megabytes long, so each is encoded in its own turn.
 * @returns `json` of all members
 */
export async function jsonOfParts(body: object, texts: Readonly<Record<string, string>>): Promise<Response> {
  const pieces = [Buffer.from(JSON.stringify(body).slice(0, -1))];
  for (const [name, text] of Object.entries(texts)) {
    pieces.push(Buffer.from(`,"${name}":`), Buffer.from(text));
    await setImmediate();
  }
  return jsonBytes(Buffer.concat([...pieces, Buffer.from("}")]));
}

const NO_STORE_HEADERS = preparedHeaders({
  "content-type": "application/json",
  "cache-control": "no-store",
  pragma: "no-cache",
});

/** @returns `json` plus `Pragma: no-cache` for HTTP/1.0 caches, as RFC 6749 section 5.1 requires for tokens and codes */
export const noStore = (body: unknown): Response =>
  new Response(JSON.stringify(body), { headers: NO_STORE_HEADERS });

const NO_CONTENT_HEADERS = preparedHeaders({ "cache-control": "no-store" });

export const noContent = (): Response => new Response(null, { status: 204, headers: NO_CONTENT_HEADERS });

/** The last header disables nginx's buffering of events. */
export const eventStream = (body: ReadableStream<Uint8Array>): Response =>
  new Response(body, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    },
  });

export const plainText = (text: string, status = 200): Response =>
  new Response(text, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  });

const encoder = new TextEncoder();

/**
 * @param lines complete lines, read only as fast as the caller takes them
 * @returns 200 with JSON Lines and `Cache-Control: no-store`
 */
export function jsonLines(lines: AsyncGenerator<string>): Response {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await lines.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await lines.return(undefined);
    },
  });
  return new Response(body, {
    headers: { "content-type": "application/jsonl", "cache-control": "no-store" },
  });
}
