// Reads a request body as bytes or text, at once or in pieces, with a size limit and strict UTF-8. Callers parse it (body.ts,
// scim/body.ts).

import { setImmediate } from "node:timers/promises";
import { pointerOf } from "../../../platform/errors.ts";
import { stringAt } from "../../../platform/json/names.ts";
import { parseInSteps } from "../../../platform/json/pieces.ts";
import {
  LARGE_OBJECT_MEMBERS_MAX,
  NUMBERED_OBJECT_MEMBERS,
  OBJECT_SHAPES_MAX,
  SHAPE_MEMBERS_MAX,
} from "../../../platform/json/shapes.ts";
import {
  findViolation,
  findViolationInSteps,
  type JsonLimits,
  type JsonViolation,
  NAME_CHARACTERS_MAX,
  NUMBER_CHARACTERS_MAX,
  OBJECT_MEMBERS_MAX,
  pointerAt,
} from "../../../platform/json/structure.ts";
import { releasing } from "../../../platform/memory/releasing.ts";
import { runInTurns } from "../../../platform/steps.ts";
import { excerpt } from "../../../platform/text/problem-list.ts";
import { exchangeOf } from "../exchange.ts";
import { HttpError } from "../problems/problem.ts";
import { ChunkLimit, readInTime, streamOf, tinyChunks } from "./body-end.ts";

/** Nesting depth limit of a JSON body. */
export const JSON_DEPTH_MAX = 64;
/** Limit on scalars, objects, lists and member names in a JSON body. */
export const JSON_VALUES_MAX = 250_000;

export const JSON_LIMITS: JsonLimits = { depthMax: JSON_DEPTH_MAX, valuesMax: JSON_VALUES_MAX };

/** A problem in a text, with an RFC 6901 pointer if one applies. */
export interface JsonProblem {
  message: string;
  pointer?: string;
}

/** Longer texts are checked, parsed and handled in separate turns of the event loop. */
export const ONE_TURN_CHARACTERS_MAX = 64 * 1024;

/**
 * Parses JSON text within limits, and describes its problems. body.ts and scim/body.ts turn problems into errors. A long
 * text takes several turns of the event loop, and the caller continues in a new turn.
 * @param errorOf creates the error to throw for a problem
 */
export async function parseWithin(
  text: string,
  limits: JsonLimits,
  errorOf: (fault: JsonProblem) => Error,
): Promise<unknown> {
  if (text.length <= ONE_TURN_CHARACTERS_MAX)
    return parseCheckedText(text, { limits, errorOf, flaw: findViolation(text, limits) });
  const { flaw, cuts } = await runInTurns(findViolationInSteps(text, limits));
  if (flaw) throw errorOf(faultOf(flaw, text, limits));
  await setImmediate();
  const value = await runInTurns(parseInSteps(text, cuts)).catch((error) => {
    throw errorOf(syntaxProblem(error));
  });
  await setImmediate();
  return value;
}

/** Problems found in a text before it is parsed. */
interface Checked {
  limits: JsonLimits;
  /** creates the error to throw for a problem */
  errorOf(fault: JsonProblem): Error;
  flaw: JsonViolation | undefined;
}

/** Parses a text that was checked. @throws the error for its flaw, or for its syntax */
export function parseCheckedText(text: string, { limits, errorOf, flaw }: Checked): unknown {
  if (flaw) throw errorOf(faultOf(flaw, text, limits));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw errorOf(syntaxProblem(error));
  }
}

function faultOf(flaw: JsonViolation, text: string, limits: JsonLimits): JsonProblem {
  if (flaw.kind === "list")
    return {
      message: `the list ${flaw.name} may have at most ${flaw.elementsMax} elements`,
      pointer: pointerOf([flaw.name]),
    };
  if (flaw.kind === "syntax")
    return { message: `the body is not valid JSON: unexpected character at index ${flaw.at}` };
  if (flaw.kind !== "duplicate") return { message: messages(limits)[flaw.kind] };
  const name = JSON.stringify(excerpt(stringAt(text, flaw.at)));
  const rule = limits.foldsCase ? "; names are compared without letter case" : "";
  return {
    message: `the member ${name} is duplicated in one object${rule}`,
    pointer: pointerAt(text, flaw.at),
  };
}

const messages = ({ depthMax, valuesMax }: JsonLimits) => ({
  depth: `the body is nested more than ${depthMax} levels deep`,
  values: `the body has more than ${valuesMax} values and names of members`,
  members: `an object of the body has more than ${OBJECT_MEMBERS_MAX} members`,
  shapes: `the objects of the body have more than ${OBJECT_SHAPES_MAX} different shapes`,
  largeObjects: `the objects of the body with more than ${SHAPE_MEMBERS_MAX} members have more than ${LARGE_OBJECT_MEMBERS_MAX} further members, where an object with a whole number as a name counts as ${NUMBERED_OBJECT_MEMBERS}`,
  name: `the name of a member has more than ${NAME_CHARACTERS_MAX} characters`,
  number: `a number of the body has more than ${NUMBER_CHARACTERS_MAX} characters`,
});

/**
 * @param error thrown by JSON.parse
 * @returns a description of the problem that quotes little of the text
 */
export function syntaxProblem(error: unknown): JsonProblem {
  const why = error instanceof Error ? `: ${excerpt(error.message.replace(/^JSON Parse error: /, ""))}` : "";
  return { message: `the body is not valid JSON${why}` };
}

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

/** Bytes of a piece, at least: small chunks are collected, because each piece has a cost. */
const PIECE_BYTES = 64 * 1024;
/** Bytes of a piece, at most: the text of a piece outlives a collection of young garbage. */
const DIVIDED_BYTES = 128 * 1024;

/**
 * Reads the body of an authenticated caller as it arrives.
 * @param bytesMax limit for the declared and the actual length
 * @returns pieces, each valid until the next one is requested
 * @throws what readBytes throws, except 408
 */
export async function* readPieces(request: Request, bytesMax: number): AsyncGenerator<Uint8Array> {
  if (declaredLengthOf(request) > bytesMax) throw tooLarge(bytesMax);
  try {
    for await (const part of releasing(partsOf(chunksOf(streamOf(request), bytesMax))))
      for (let from = 0; from < part.length; from += DIVIDED_BYTES)
        yield part.subarray(from, from + DIVIDED_BYTES);
  } catch (error) {
    throw cutShort(error);
  }
}

/** @returns the chunks, small ones joined to a piece */
async function* partsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let [small, length]: [Uint8Array[], number] = [[], 0];
  for await (const chunk of chunks) {
    small.push(chunk);
    length += chunk.length;
    if (length < PIECE_BYTES) continue;
    const part = small.length === 1 ? chunk : Buffer.concat(small);
    [small, length] = [[], 0];
    yield part;
  }
  yield Buffer.concat(small);
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
