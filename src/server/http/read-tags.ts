// Entity tags for administrators: each JSON response under /admin has one, and a matching If-None-Match gets 304.
// Responses with a revision or a record set their own tag, see conditional.ts. Tags must not change the content of a
// response.
import { setImmediate } from "node:timers/promises";
import { IF_NONE_MATCH, unchanged, WHOLE_CHARACTERS } from "./conditional.ts";
import { type Answers, type HeaderParameter, withHeaders } from "./header-parameters.ts";
import { json, jsonBytes } from "./responses.ts";

const JSON_TYPE = json({}).headers.get("content-type");
/** Hashing these bytes takes a few milliseconds. */
const SLICE_BYTES = 1024 * 1024;

/** @param path of the request, or of the route */
const isAdministratorsRead = (method: string, path: string): boolean =>
  (method === "GET" || method === "HEAD") && path.startsWith("/admin/");

/** @returns whether the response needs `tagged`; a cheap check */
export const needsTag = (
  { method }: Request,
  route: string | undefined,
  { status, headers }: Response,
): boolean =>
  route !== undefined &&
  isAdministratorsRead(method, route) &&
  status === 200 &&
  headers.get("content-type") === JSON_TYPE &&
  !headers.has("etag");

/** @returns the response with the entity tag of its bytes, or 304 if If-None-Match matches */
export async function tagged(request: Request, response: Response): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const etag = `"${await digestOf(bytes)}"`;
  return unchanged(request, etag) ?? jsonBytes(bytes, { etag });
}

/** Large responses are hashed in several turns of the event loop. */
async function digestOf(bytes: Uint8Array): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    if (at > 0) await setImmediate();
    hasher.update(bytes.subarray(at, at + SLICE_BYTES));
  }
  return hasher.digest("hex").slice(0, WHOLE_CHARACTERS);
}

export interface DescribedResponses {
  "x-answers"?: Answers;
  /** optional request headers */
  "x-headers"?: readonly HeaderParameter[];
}

/** @returns the description of an operation; If-None-Match is added if its response gets a tag here */
export function withReadTag<T extends DescribedResponses>(
  detail: T,
  { method, path }: { method: string; path: string },
): T {
  const { "x-answers": responses = {}, "x-headers": headers = [] } = detail;
  const answer = responses[200];
  const isTagged = isAdministratorsRead(method, path) && answer !== undefined && !answer.mediaType;
  if (!isTagged || headers.includes(IF_NONE_MATCH)) return detail;
  return { ...detail, ...withHeaders({ "x-answers": responses }, ...headers, IF_NONE_MATCH) };
}
