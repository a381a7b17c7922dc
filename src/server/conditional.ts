// Conditional requests (RFC 9110 section 13): bytes made once per revision, answered with 304 where the caller has them.
import { sha256Hex } from "../platform/ids.ts";
import { preparedHeaders } from "./answers.ts";

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

/** @param cacheControl for example `private, no-cache`: kept, but asked about each time */
export function prepareAnswer(bytes: Uint8Array<ArrayBuffer>, options: PreparedHeaders): PreparedAnswer {
  const etag = `"${sha256Hex(bytes).slice(0, 32)}"`;
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

/** Weak comparison, as RFC 9110 section 13.1.2 wants it for If-None-Match. */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag) return true;
  return ifNoneMatch.split(",").some((candidate) => {
    const tag = candidate.trim();
    return tag === "*" || tag === etag || tag === `W/${etag}`;
  });
}
