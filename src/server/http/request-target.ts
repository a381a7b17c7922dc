// Whom and what a request is for, before a route is looked for: refuses what names no proper host, and spells the rest as
// the framework can read it. Whether there is such a path is for the routes.
import { HttpError } from "./problems/problem.ts";

/**
 * The framework finds no route for HEAD, nor behind a host shorter than four characters: both are asked as it can.
 * The length of the longest origin it misreads is that of `http://abc`.
 */
const MISREAD_ORIGIN_LENGTH = 10;
const SOME_ORIGIN = "http://localhost";

/** The origin that was read last, with the slash behind it: nearly every request is for it, and no path makes it worse. */
let readableOrigin = "http://localhost/";

/**
 * @returns a request that the framework reads right, or undefined for one whose host is no host, or more than one
 * @source RFC 9112 section 3.2
 */
export function routable(request: Request): Request | undefined {
  const { url } = request;
  const host = request.headers.get("host") ?? "";
  if (host.includes(",")) return undefined; // the runtime takes the first of several
  // Without a host, as before HTTP/1.1, and with one it cannot read, the runtime gives the path alone.
  const isPathOnly = url.startsWith("/");
  if (isPathOnly ? host !== "" : !isReadable(url)) return undefined;
  const pathStart = isPathOnly ? 0 : url.indexOf("/", "https://".length);
  const isHead = request.method === "HEAD";
  if (pathStart > MISREAD_ORIGIN_LENGTH && !isHead) return request;
  const readable = pathStart > MISREAD_ORIGIN_LENGTH ? url : `${SOME_ORIGIN}${url.slice(pathStart)}`;
  return new Request(readable, isHead ? { method: "GET", headers: request.headers } : request);
}

function isReadable(url: string): boolean {
  if (url.startsWith(readableOrigin)) return true;
  if (!URL.canParse(url)) return false;
  const pathStart = url.indexOf("/", "https://".length);
  if (pathStart > 0) readableOrigin = url.slice(0, pathStart + 1); // else every URL would begin so
  return true;
}

/** @returns the refusal of a request that `routable` does not know where to take */
export const unreadableHost = (): HttpError =>
  new HttpError(400, "request.host", "the Host header must name one host, with or without a port");
