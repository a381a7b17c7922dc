// Reads a request body as bytes or text, with a size limit and strict UTF-8. Callers parse it (body.ts, scim/body.ts).

import { exchangeOf } from "../exchange.ts";
import { HttpError } from "../problems/problem.ts";
import { readInTime } from "./body-end.ts";

/**
 * @param bytesMax limit for the declared and the actual length
 * @throws HttpError 413; 408 for a slow body of an unauthenticated caller; 400 for a truncated body
 */
export async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  try {
    const reading: Promise<Uint8Array<ArrayBuffer>> =
      declared >= 0 ? request.bytes() : readStream(request, bytesMax);
    return await readInTime(reading, exchangeOf(request));
  } catch (error) {
    throw cutShort(error);
  }
}

/**
 * @param bytesMax limit for the declared and the actual length
 * @throws what readBytes throws; HttpError 400 for invalid UTF-8
 */
export async function readText(request: Request, bytesMax: number): Promise<string> {
  const bytes = await readBytes(request, bytesMax);
  try {
    return utf8.decode(bytes);
  } catch {
    throw new HttpError(400, "request.malformed", "the body is not UTF-8");
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Only for bodies without a declared length: a stream costs more than the rest of a small request. */
async function readStream(request: Request, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The caller disconnected or sent malformed HTTP. Nobody receives the answer, and it does not count as our failure. */
function cutShort(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "AbortError") return error;
  return new HttpError(400, "request.cut_short", "the body is incomplete");
}

const tooLarge = (bytesMax: number) =>
  new HttpError(413, "request.too_large", `the body has more than ${bytesMax} bytes`);

/** A parsed Content-Type header. */
export interface ContentType {
  /** lower case; empty if the header is missing */
  mediaType: string;
  /** true if no charset is given */
  isUtf8: boolean;
}

/** @returns the parsed Content-Type of the request */
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

/** @throws HttpError 415 for any Content-Encoding, including `identity` */
export function refuseEncoding(request: Request): void {
  if (!request.headers.has("content-encoding")) return;
  throw new HttpError(415, "request.content_encoding", "send the body without a content encoding", {
    headers: { "accept-encoding": "identity" },
  });
}
