// The bytes of a request body as text: bounded while they are read, and strictly UTF-8. What the text means is decided
// by who asked for it (body.ts, scim/body.ts).

import { exchangeOf } from "../exchange.ts";
import { HttpError } from "../problems/problem.ts";
import { readInTime } from "./body-end.ts";

/**
 * @param bytesMax more are refused, whether they were declared or only came
 * @throws HttpError 413; 408 for a stranger's body that is slow; 400 for what is no UTF-8, or ended before it was whole
 */
export async function readText(request: Request, bytesMax: number): Promise<string> {
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  let bytes: Uint8Array;
  try {
    const reading = declared >= 0 ? request.bytes() : readStream(request, bytesMax);
    bytes = await readInTime(reading, exchangeOf(request));
  } catch (error) {
    throw cutShort(error);
  }
  try {
    return utf8.decode(bytes);
  } catch {
    throw new HttpError(400, "request.malformed", "the body is not UTF-8");
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** It costs more than all else of a small request: it is for bodies that do not say how long they are. */
async function readStream(request: Request, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The caller went away, or what came was no HTTP any more: nobody hears the answer, and it is no failure of ours. */
function cutShort(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "AbortError") return error;
  return new HttpError(400, "request.cut_short", "the body ended before it was whole");
}

const tooLarge = (bytesMax: number) =>
  new HttpError(413, "request.too_large", `the body has more than ${bytesMax} bytes`);

/** A Content-Type header, read. */
export interface ContentType {
  /** in lower case, empty where the header is missing */
  mediaType: string;
  /** whether the text is in UTF-8, which is so when nothing is said */
  isUtf8: boolean;
}

/** @returns what the request says of its body */
export function contentTypeOf(request: Request): ContentType {
  const [type = "", ...parameters] = (request.headers.get("content-type") ?? "").toLowerCase().split(";");
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith("charset="));
  return { mediaType: type.trim(), isUtf8: charset === undefined || /^charset="?utf-?8"?$/.test(charset) };
}

/** @throws HttpError 415 for a compressed body */
export function refuseEncoded(request: Request): void {
  if (request.headers.get("content-encoding")?.toLowerCase() !== "identity") refuseEncoding(request);
}

/** @throws HttpError 415 for a body of which an encoding is named, one that changes nothing included */
export function refuseEncoding(request: Request): void {
  if (!request.headers.has("content-encoding")) return;
  throw new HttpError(415, "request.content_encoding", "send the body without a content encoding", {
    headers: { "accept-encoding": "identity" },
  });
}
