// Reads a request body as bytes or text, at once or in pieces, with a size limit and strict UTF-8. Callers parse it (body.ts,
// scim/body.ts).

import { exchangeOf } from "../exchange.ts";
import { HttpError } from "../problems/problem.ts";
import { ChunkLimit, readInTime, streamOf, tinyChunks } from "./body-end.ts";

/**
 * @param bytesMax limit for the declared and the actual length
 * @throws HttpError 413; 408 for a slow body of an unauthenticated caller; 400 for a truncated body
 */
export async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const declared = declaredLengthOf(request);
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
  return decoderOf(utf8)(bytes);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** @returns a function that decodes the pieces of a body in their order; it throws HttpError 400 for invalid UTF-8 */
export function pieceDecoder(): (bytes: Uint8Array, options?: TextDecodeOptions) => string {
  return decoderOf(new TextDecoder("utf-8", { fatal: true }));
}

const decoderOf =
  (decoder: TextDecoder) =>
  (bytes: Uint8Array, options?: TextDecodeOptions): string => {
    try {
      return decoder.decode(bytes, options);
    } catch {
      throw new HttpError(400, "request.malformed", "the body is not UTF-8");
    }
  };

/** Only for bodies without a declared length: a stream costs more than the rest of a small request. */
async function readStream(request: Request, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  return Buffer.concat(await Array.fromAsync(chunksOf(request.body, bytesMax)));
}

/** @throws HttpError 413, or 400 for too many small chunks */
async function* chunksOf(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  const limit = new ChunkLimit();
  let length = 0;
  try {
    while (reader) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!limit.allows(value)) throw tinyChunks();
      length += value.length;
      if (length > bytesMax) throw tooLarge(bytesMax);
      yield value;
    }
  } finally {
    reader?.releaseLock(); // body-end.ts reads the rest of a refused body, or the caller would not see the response
  }
}

/** Bytes of a piece: small chunks are collected, because each piece has a cost. */
const PIECE_BYTES = 64 * 1024;

/**
 * Reads the body of an authenticated caller while it arrives.
 * @param bytesMax limit for the declared and the actual length
 * @throws what readBytes throws, except 408
 */
export async function* readPieces(request: Request, bytesMax: number): AsyncGenerator<Uint8Array> {
  if (declaredLengthOf(request) > bytesMax) throw tooLarge(bytesMax);
  let [chunks, length]: [Uint8Array[], number] = [[], 0];
  try {
    for await (const chunk of chunksOf(streamOf(request), bytesMax)) {
      chunks.push(chunk);
      length += chunk.length;
      if (length < PIECE_BYTES) continue;
      yield Buffer.concat(chunks);
      [chunks, length] = [[], 0];
    }
  } catch (error) {
    throw cutShort(error);
  }
  yield Buffer.concat(chunks);
}

/** @returns the declared length of the body in bytes; NaN if it has none */
export const declaredLengthOf = ({ headers }: Request): number =>
  Number(headers.get("content-length") ?? Number.NaN);

/** The caller disconnected or sent malformed HTTP. Nobody receives the response, and it does not count as our failure. */
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
