// Reads the body of an upload piece by piece, within its time limits and its announced size.
import { BODY_IDLE_MS, BODY_WHOLE_MS } from "../../../domain/sessions/limits.ts";
import { SECOND_MS, within } from "../../../platform/clock.ts";
import { streamOf } from "../../http/bodies/body-end.ts";
import { HttpError } from "../../http/problems/problem.ts";

/** Time limits of one body. */
export interface UploadTimes {
  /** without a byte */
  idleMs: number;
  /** for all of it */
  wholeMs: number;
}

export const UPLOAD_TIMES: UploadTimes = { idleMs: BODY_IDLE_MS, wholeMs: BODY_WHOLE_MS };

/**
 * @param sizeBytes the length that the request declares
 * @throws HttpError 408 for a slow body, 400 for one that is cut
 */
export async function* readUpload(
  request: Request,
  sizeBytes: number,
  { idleMs, wholeMs }: UploadTimes = UPLOAD_TIMES,
): AsyncGenerator<Uint8Array> {
  const reader = streamOf(request)?.getReader();
  const endMs = performance.now() + wholeMs;
  let read = 0;
  try {
    while (reader) {
      const patienceMs = Math.min(idleMs, endMs - performance.now());
      const piece = patienceMs > 0 ? await within(patienceMs, nextOf(reader)) : undefined;
      if (!piece) throw tooSlow(wholeMs);
      if (piece.done) break;
      read += piece.value.byteLength;
      yield piece.value;
    }
  } finally {
    if (read < sizeBytes) reader?.cancel().catch(() => {}); // the connection is closed, nobody reads the rest
  }
  if (read !== sizeBytes) throw cutShort();
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** A caller who leaves makes the runtime's stream fail. */
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
