// Conditional requests (RFC 9110 section 13): bytes made once per revision, answered with 304 where the caller has them.
import type { Expectation } from "../domain/expectation.ts";
import { sha256Hex } from "../platform/ids.ts";
import { json, preparedHeaders } from "./answers.ts";
import type { HeaderParameter } from "./header-parameters.ts";
import { HttpError } from "./problem.ts";

/** An answer that many requests share. */
export interface PreparedAnswer {
  /** a blob, because the runtime copies an array for each answer */
  body: Blob;
  /** strong entity tag, quotes included */
  etag: string;
  headers: Headers;
  unchangedHeaders: Headers;
}

export interface PreparedHeaders {
  contentType: string;
  cacheControl: string;
  /** sent with 200 and 304 alike */
  others?: Readonly<Record<string, string>>;
}

/** @returns the strong entity tag of what an answer says, quotes included */
const etagOf = (content: string | Uint8Array): string => `"${sha256Hex(content).slice(0, 32)}"`;

/** @returns the entity tag of a value as `json` sends it */
export const jsonTag = (value: unknown): string => etagOf(JSON.stringify(value));

/** @param cacheControl for example `private, no-cache`: kept, but asked about each time */
export function prepareAnswer(bytes: Uint8Array<ArrayBuffer>, options: PreparedHeaders): PreparedAnswer {
  const etag = etagOf(bytes);
  const shared = { etag, "cache-control": options.cacheControl, ...options.others };
  return {
    body: new Blob([bytes]),
    etag,
    headers: preparedHeaders({ ...shared, "content-type": options.contentType }),
    unchangedHeaders: new Headers(shared),
  };
}

/** @returns the answer of a text, made anew when the text is another one: what the clock changes has no revision */
export function preparedText(current: () => string, headers: PreparedHeaders): () => PreparedAnswer {
  let prepared: { text: string; answer: PreparedAnswer } | undefined;
  return () => {
    const text = current();
    if (prepared?.text !== text) prepared = { text, answer: prepareAnswer(Buffer.from(text), headers) };
    return prepared.answer;
  };
}

/** @returns 200 with the bytes, or 304 without them when If-None-Match names them */
export function answerConditionally(request: Request, answer: PreparedAnswer): Response {
  const known = request.headers.get("if-none-match");
  if (known !== null && namesTag(known, answer.etag)) {
    return new Response(null, { status: 304, headers: answer.unchangedHeaders });
  }
  return new Response(answer.body, { headers: answer.headers });
}

/** @returns 200 with JSON and its entity tag, or 304 when If-None-Match names it */
export function jsonConditionally(request: Request, value: unknown): Response {
  const etag = jsonTag(value);
  return unchanged(request, etag) ?? json(value, { headers: { etag } });
}

/** @returns 304 when If-None-Match names the tag; nobody keeps the answer but who asked */
export function unchanged(request: Request, etag: string): Response | undefined {
  const known = request.headers.get("if-none-match");
  if (known === null || !namesTag(known, etag)) return undefined;
  return new Response(null, { status: 304, headers: { etag, "cache-control": "no-store" } });
}

/**
 * @param shown what the caller reads of the record, as its entity tag was made from
 * @returns the check of If-Match for the transaction that changes the record; undefined where the header is missing
 * @throws (from the check) HttpError 412 `request.stale` with the current entity tag
 */
export function expectationOf<T>(
  request: Request,
  shown: (current: T) => unknown,
): Expectation<T> | undefined {
  const tags = ifMatchOf(request);
  if (tags === undefined) return undefined;
  return (current) => {
    const etag = jsonTag(shown(current));
    if (!tags.includes("*") && !tags.includes(etag)) throw stale(etag);
  };
}

/** @returns the tags of If-Match, quotes included; undefined where the header is missing */
export const ifMatchOf = ({ headers }: Request): readonly string[] | undefined =>
  headers
    .get("if-match")
    ?.split(",")
    .map((tag) => tag.trim());

const stale = (etag: string): HttpError =>
  new HttpError(
    412,
    "request.stale",
    `the record has changed; its entity tag is ${etag} now: read it, make the change there, and send it again`,
    { headers: { etag } },
  );

/** For the API document: what reads take. */
export const IF_NONE_MATCH: HeaderParameter = {
  name: "If-None-Match",
  description: "The ETag of an earlier answer; 304 without a body where nothing has changed since",
  schema: { type: "string" },
  answers: { 304: { description: "Unchanged since the ETag in If-None-Match" } },
};

/** For the API document: what changes take. */
export const IF_MATCH: HeaderParameter = {
  name: "If-Match",
  description: "The ETag of what was read; 412 and no change where it is another one now",
  schema: { type: "string" },
  answers: { 412: { description: "Changed since the ETag in If-Match" } },
};

/** Weak comparison, as RFC 9110 section 13.1.2 wants it for If-None-Match. */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag) return true;
  return ifNoneMatch.split(",").some((candidate) => {
    const tag = candidate.trim();
    return tag === "*" || tag === etag || tag === `W/${etag}`;
  });
}
