// Reads the body of an upload piece by piece, within its time limits and its declared size. body-text.ts reads small bodies whole.
import { BODY_IDLE_MS, BODY_WHOLE_MS } from "../../../domain/sessions/limits.ts";
import { MINUTE_MS, SECOND_MS, within } from "../../../platform/clock.ts";
import { HttpError } from "../problems/problem.ts";
import { ChunkLimit, streamOf, tinyChunks } from "./body-end.ts";

/** Time limits of one body. */
export interface UploadTimes {
  /** without a byte */
  idleMs: number;
  /** for the whole body */
  wholeMs: number;
}

/** Of captured sessions. */
const UPLOAD_TIMES: UploadTimes = { idleMs: BODY_IDLE_MS, wholeMs: BODY_WHOLE_MS };
/** Time limits of archives: 100 MiB at 2 Mbit/s take 7 minutes. */
export const ARCHIVE_TIMES: UploadTimes = { idleMs: BODY_IDLE_MS, wholeMs: 10 * MINUTE_MS };

/**
 * @param sizeBytes the length that the request declares; undefined for a body in chunks, whose end the runtime knows
 * @throws HttpError 408 for a slow body, 400 for a truncated body or too many small chunks
 */
export async function* streamBody(
  request: Request,
  sizeBytes: number | undefined,
  { idleMs, wholeMs }: UploadTimes = UPLOAD_TIMES,
): AsyncGenerator<Uint8Array> {
  const reader = streamOf(request)?.getReader();
  const endMs = performance.now() + wholeMs;
  let read = 0;
  let isWhole = false;
  const limit = new ChunkLimit();
  try {
    while (reader) {
      const waitMaxMs = Math.min(idleMs, endMs - performance.now());
      const piece = waitMaxMs > 0 ? await within(waitMaxMs, nextOf(reader)) : undefined;
      if (!piece) throw tooSlow(wholeMs);
      if (piece.done) break;
      if (!limit.allows(piece.value)) throw tinyChunks();
      read += piece.value.byteLength;
      yield piece.value;
    }
    isWhole = sizeBytes === undefined || read === sizeBytes;
  } finally {
    if (!isWhole && read !== sizeBytes) reader?.cancel().catch(() => {}); // the connection is closed, nobody reads the rest
  }
  if (!isWhole) throw cutShort();
}

/** @returns the length that the request declares; undefined for a body in chunks @throws HttpError 413 if it is more than that */
export function declaredLength({ headers }: Request, bytesMax: number): number | undefined {
  const text = headers.get("content-length");
  if (text === null || headers.has("transfer-encoding")) return undefined;
  const length = Number(text);
  if (length > bytesMax) throw tooLarge(bytesMax);
  return length;
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** The runtime's stream fails when the caller disconnects. */
const nextOf = (reader: Reader) =>
  reader.read().catch(() => {
    throw cutShort();
  });

const CLOSE = { headers: { connection: "close" } };

const tooSlow = (wholeMs: number) =>
  new HttpError(
    408,
    "request.too_slow",
    `the body did not arrive steadily within ${wholeMs / SECOND_MS} seconds; send it again`,
    CLOSE,
  );

const cutShort = () => new HttpError(400, "request.cut_short", "the body is incomplete", CLOSE);

const tooLarge = (bytesMax: number) =>
  new HttpError(413, "request.too_large", `the body has more than ${bytesMax} bytes`, CLOSE);
