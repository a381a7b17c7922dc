// Builds the headers of a response for the client. They are the headers of the upstream, except hop-by-hop headers,
// headers of the upstream connection, headers that set state in the client, and headers that reveal internals of the
// gateway.
import type { UsableKey } from "../../../domain/gateway/service.ts";
import { namesIn } from "./request-headers.ts";

const REQUEST_ID_HEADER = "x-quartermaster-request-id";

const DROPPED: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"],
  ...["set-cookie", "set-cookie2", "alt-svc", "server", "via", "x-powered-by", "strict-transport-security"],
  "x-litellm-model-api-base", // an address inside the operator's network
  "content-length", // set again by the runtime if it has the whole body
  REQUEST_ID_HEADER,
]);
const DROPPED_PREFIXES = ["proxy-", "x-litellm-key-", "llm_provider-", "access-control-"] as const;

/** Without these headers, a proxy in between may buffer an event stream. */
const STREAM_DEFAULTS = { "cache-control": "no-cache", "x-accel-buffering": "no" } as const;

/** @returns the headers, in a new object */
export function responseHeaders(
  given: Headers,
  { requestId, isEventStream }: { requestId: string; isEventStream: boolean },
): Record<string, string> {
  const listed = namesIn(given.get("connection"));
  const headers: Record<string, string> = isEventStream ? { ...STREAM_DEFAULTS } : {};
  given.forEach((value, name) => {
    if (!DROPPED.has(name) && !listed?.has(name) && !hasDroppedPrefix(name)) headers[name] = value;
  });
  headers[REQUEST_ID_HEADER] = requestId;
  return headers;
}

function hasDroppedPrefix(name: string): boolean {
  for (const prefix of DROPPED_PREFIXES) if (name.startsWith(prefix)) return true;
  return false;
}

/** @returns whether a value contains the key, which must not reach the workstation */
export function tellKey(headers: Readonly<Record<string, string>>, { credential }: UsableKey): boolean {
  const secret = credential.reveal();
  for (const name in headers) if (headers[name]?.includes(secret)) return true;
  return false;
}

/** @returns whether the body is a plain event stream, which we may read and end with an event */
export const isPlainEventStream = (headers: Headers): boolean =>
  /^text\/event-stream\b/i.test(headers.get("content-type") ?? "") && isPlain(headers);

/** @returns whether the body is not compressed */
export function isPlain(headers: Headers): boolean {
  const encoding = headers.get("content-encoding");
  return encoding === null || encoding.toLowerCase() === "identity";
}
