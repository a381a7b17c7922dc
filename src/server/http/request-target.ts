// Normalizes the request target before routing: rejects a request without a valid host, and rewrites URLs that the
// framework would misread. The routes decide whether the path exists.
import { HttpError } from "./problems/problem.ts";

/**
 * The framework does not route HEAD, nor origins with a host shorter than four characters; both are rewritten. The longest
 * misread origin is as long as `http://abc`.
 */
const MISREAD_ORIGIN_LENGTH = 10;
const SOME_ORIGIN = "http://localhost";

/** The last origin read, with a trailing slash. Nearly every request has the same one, so this saves parsing. */
let readableOrigin = "http://localhost/";

/**
 * @returns a request that the framework can route; undefined if the host is invalid or repeated
 * @source RFC 9112 section 3.2
 */
export function routable(request: Request): Request | undefined {
  if (!hasReadableHost(request)) return undefined;
  const { url } = request;
  const pathStart = url.startsWith("/") ? 0 : url.indexOf("/", "https://".length);
  const isHead = request.method === "HEAD";
  if (pathStart > MISREAD_ORIGIN_LENGTH && !isHead) return request;
  const readable = pathStart > MISREAD_ORIGIN_LENGTH ? url : `${SOME_ORIGIN}${url.slice(pathStart)}`;
  return new Request(readable, isHead ? { method: "GET", headers: request.headers } : request);
}

/** @returns whether the request names one host, or none (before HTTP/1.1) */
export function hasReadableHost({ url, headers }: Request): boolean {
  const host = headers.get("host") ?? "";
  if (host.includes(",")) return false; // the runtime uses the first of several hosts
  // Without a host or with an unreadable one, the runtime's URL is only a path.
  return url.startsWith("/") ? host === "" : isReadable(url);
}

function isReadable(url: string): boolean {
  if (url.startsWith(readableOrigin)) return true;
  if (!URL.canParse(url)) return false;
  const pathStart = url.indexOf("/", "https://".length);
  if (pathStart > 0) readableOrigin = url.slice(0, pathStart + 1); // an empty prefix would match every URL
  return true;
}

/** @returns the error for a request that `routable` rejected */
export const unreadableHost = (): HttpError =>
  new HttpError(400, "request.host", "the Host header must name one host, with or without a port");
