// The few shapes of a successful answer, and the headers that every answer carries.

/** Headers of every answer that does not say otherwise. Pages bring their own policy. */
const DEFAULT_HEADERS: readonly (readonly [string, string])[] = [
  ["x-content-type-options", "nosniff"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["referrer-policy", "no-referrer"],
  ["cross-origin-resource-policy", "same-origin"],
];
const MARK = "x-content-type-options";
const HSTS = "max-age=31536000";

/** @returns headers for an answer that is made once and sent often, the standing ones included */
export const preparedHeaders = (headers: Readonly<Record<string, string>>): Headers =>
  new Headers({ ...Object.fromEntries(DEFAULT_HEADERS), ...headers });

/** Completes an answer on its way out. */
export function complete(
  response: Response,
  { requestId, secure }: { requestId: string; secure: boolean },
): Response {
  const { headers } = response;
  headers.set("x-request-id", requestId);
  if (secure) headers.set("strict-transport-security", HSTS);
  // A 304 stands for an answer that had these headers, and is sent without them (RFC 9110 section 15.4.5).
  if (response.status === 304 || headers.has(MARK)) return response;
  for (const [name, value] of DEFAULT_HEADERS) if (!headers.has(name)) headers.set(name, value);
  return response;
}

/** Copying headers costs a tenth of setting them one by one. */
const JSON_HEADERS = preparedHeaders({ "content-type": "application/json", "cache-control": "no-store" });

/** @returns 200 with JSON that belongs to one caller or moment: nobody keeps it */
export function json(
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): Response {
  const response = new Response(JSON.stringify(body), { status, headers: JSON_HEADERS });
  for (const name in headers) response.headers.set(name, headers[name] ?? "");
  return response;
}

/** @param bytes JSON @returns the same for a body that was written already */
export function jsonBytes(bytes: Uint8Array<ArrayBuffer>, { etag }: { etag?: string } = {}): Response {
  const response = new Response(bytes, { headers: JSON_HEADERS });
  if (etag !== undefined) response.headers.set("etag", etag);
  return response;
}

const NO_STORE_HEADERS = preparedHeaders({
  "content-type": "application/json",
  "cache-control": "no-store",
  pragma: "no-cache",
});

/** @returns the same for HTTP/1.0 caches too, as RFC 6749 section 5.1 wants it for tokens and codes */
export const noStore = (body: unknown): Response =>
  new Response(JSON.stringify(body), { headers: NO_STORE_HEADERS });

const NO_CONTENT_HEADERS = preparedHeaders({ "cache-control": "no-store" });

export const noContent = (): Response => new Response(null, { status: 204, headers: NO_CONTENT_HEADERS });

export const plainText = (text: string, status = 200): Response =>
  new Response(text, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  });
