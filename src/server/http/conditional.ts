// Conditional requests (RFC 9110 section 13): bytes prepared once per revision, and 304 for callers that already have
// them.
import type { Expectation } from "../../domain/shared/expectation.ts";
import { sha256Hex } from "../../platform/ids.ts";
import type { HeaderParameter } from "./header-parameters.ts";
import { HttpError } from "./problems/problem.ts";
import { json, jsonBytes, preparedHeaders } from "./responses.ts";

/** A prepared 304. */
export interface UnchangedResponse {
  /** strong entity tag, including quotes */
  etag: string;
  unchangedHeaders: Headers;
}

/** A prepared response that many requests share. */
export interface PreparedResponse extends UnchangedResponse {
  /** a Blob, because the runtime copies an array for each response */
  body: Blob;
  headers: Headers;
}

export interface PreparedHeaders {
  contentType: string;
  cacheControl: string;
  /** computed from the bytes if omitted */
  etag?: string;
  /** headers of both 200 and 304 */
  others?: Readonly<Record<string, string>>;
}

/** @returns the strong entity tag of the content, including quotes */
const etagOf = (content: string | Uint8Array): string => `"${wholeDigest(content)}"`;

/**
 * Length of the digest of the whole record. The digests of members are shorter, because they only identify changed members.
 */
export const WHOLE_CHARACTERS = 32;
const MEMBER_CHARACTERS = 4;

const wholeDigest = (content: string | Uint8Array): string => sha256Hex(content).slice(0, WHOLE_CHARACTERS);

/**
 * @returns the entity tag of one record: a digest of the whole and, after a dot, a short digest of each member. A
 * failed If-Match can thus name the changed members, although the server does not store earlier representations.
 */
export function recordTag(record: object): string {
  const members = Object.values(record).map((value) =>
    sha256Hex(JSON.stringify(value) ?? "").slice(0, MEMBER_CHARACTERS),
  );
  return `"${wholeDigest(JSON.stringify(record))}.${members.join("")}"`;
}

/** @returns JSON pointers to the members that differ from the record that the first former tag describes */
function changedSince(formerTags: readonly string[], record: object): string[] {
  const members = memberDigests(formerTags.find((tag) => memberDigests(tag).length > 0) ?? "");
  const current = memberDigests(recordTag(record));
  if (members.length !== current.length) return [];
  return Object.keys(record)
    .filter((_name, index) => members[index] !== current[index])
    .map((name) => `/${name}`);
}

const memberDigests = (tag: string): readonly string[] =>
  /^"[0-9a-f]{32}\.((?:[0-9a-f]{4})+)"$/.exec(tag)?.[1]?.match(/.{4}/g) ?? [];

/** @param cacheControl for example `private, no-cache`: stored, but revalidated each time */
export function prepareResponse(bytes: Uint8Array<ArrayBuffer>, options: PreparedHeaders): PreparedResponse {
  const etag = options.etag ?? etagOf(bytes);
  const unchanged = prepareUnchanged(etag, options);
  const shared = Object.fromEntries(unchanged.unchangedHeaders);
  return {
    ...unchanged,
    body: new Blob([bytes]),
    headers: preparedHeaders({ ...shared, "content-type": options.contentType }),
  };
}

/** @returns the 304 alone, for which the bytes are not needed */
export function prepareUnchanged(
  etag: string,
  { cacheControl, others }: Omit<PreparedHeaders, "contentType">,
): UnchangedResponse {
  return { etag, unchangedHeaders: new Headers({ etag, "cache-control": cacheControl, ...others }) };
}

/**
 * @returns a prepared response that is rebuilt when the text changes, for content without a revision that depends on
 * the clock
 */
export function preparedText(current: () => string, headers: PreparedHeaders): () => PreparedResponse {
  let prepared: { text: string; response: PreparedResponse } | undefined;
  return () => {
    const text = current();
    if (prepared?.text !== text) prepared = { text, response: prepareResponse(Buffer.from(text), headers) };
    return prepared.response;
  };
}

/** @returns 200 with the bytes, or 304 if If-None-Match matches */
export function respondConditionally(request: Request, response: PreparedResponse): Response {
  return hasCurrent(request, response.etag) ? respondUnchanged(response) : respondWhole(response);
}

/** @returns whether If-None-Match matches the tag */
export function hasCurrent(request: Request, etag: string): boolean {
  const known = request.headers.get("if-none-match");
  return known !== null && namesTag(known, etag);
}

/** @returns 200 with the bytes */
export const respondWhole = ({ body, headers }: PreparedResponse): Response =>
  new Response(body, { headers });

/** @returns 304 */
export const respondUnchanged = ({ unchangedHeaders }: UnchangedResponse): Response =>
  new Response(null, { status: 304, headers: unchangedHeaders });

/** @returns 200 with JSON and its entity tag, or 304 if If-None-Match matches */
export function jsonConditionally(request: Request, value: unknown): Response {
  const text = JSON.stringify(value);
  const etag = etagOf(text);
  return unchanged(request, etag) ?? jsonBytes(Buffer.from(text), { etag });
}

/** @returns a private 304 if If-None-Match matches */
export function unchanged(request: Request, etag: string): Response | undefined {
  const known = request.headers.get("if-none-match");
  if (known === null || !namesTag(known, etag)) return undefined;
  return new Response(null, { status: 304, headers: { etag, "cache-control": "no-store" } });
}

/** @returns 200 with one record and its entity tag, or 304 if If-None-Match matches */
export function recordConditionally(request: Request, record: object): Response {
  const etag = recordTag(record);
  return unchanged(request, etag) ?? json(record, { headers: { etag } });
}

/**
 * @param shown the representation of the record that its entity tag is computed from
 * @returns the If-Match check to run in the transaction that changes the record; undefined if the header is missing
 * @throws (from the check) HttpError 412 `request.stale` with the current entity tag and the changed members
 */
export function expectationOf<T>(
  request: Request,
  shown: (current: T) => object,
): Expectation<T> | undefined {
  const tags = ifMatchOf(request);
  if (tags === undefined) return undefined;
  return (current) => {
    const record = shown(current);
    const etag = recordTag(record);
    if (!tags.includes("*") && !tags.includes(etag)) throw stale(etag, changedSince(tags, record));
  };
}

/** @returns the tags of If-Match, including quotes; undefined if the header is missing */
export const ifMatchOf = ({ headers }: Request): readonly string[] | undefined =>
  headers
    .get("if-match")
    ?.split(",")
    .map((tag) => tag.trim());

const stale = (etag: string, places: readonly string[]): HttpError =>
  new HttpError(
    412,
    "request.stale",
    `the record has changed; its entity tag is now ${etag}: read it again, and repeat the change`,
    {
      headers: { etag },
      problems: places.map((pointer) => ({ pointer, detail: "has changed since the ETag in If-Match" })),
    },
  );

/** OpenAPI parameter of reads. */
export const IF_NONE_MATCH: HeaderParameter = {
  name: "If-None-Match",
  description: "The ETag of an earlier response; 304 without a body if nothing has changed since then",
  schema: { type: "string" },
  answers: { 304: { description: "Unchanged since the ETag in If-None-Match" } },
};

/** OpenAPI parameter of changes. */
export const IF_MATCH: HeaderParameter = {
  name: "If-Match",
  description: "The ETag that was read; 412 and no change if the current one differs",
  schema: { type: "string" },
  answers: {
    412: {
      description:
        "Changed since the ETag in If-Match; the header ETag has the current one, and `errors` points to the changes",
    },
  },
};

/** Weak comparison, as RFC 9110 section 13.1.2 requires for If-None-Match. */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag) return true;
  return ifNoneMatch.split(",").some((candidate) => {
    const tag = candidate.trim();
    return tag === "*" || tag === etag || tag === `W/${etag}`;
  });
}
