// Reads a form with one large file (multipart/form-data, RFC 7578): the fields before the file at once, the bytes of the file as they
// arrive. upload.ts reads small files whole.
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { HttpError } from "../problems/problem.ts";
import { contentTypeOf, refuseEncoded } from "./body-text.ts";
import { ARCHIVE_TIMES, declaredLength, streamBody, type UploadTimes } from "./streamed-body.ts";

/** Bytes of a form without its file: boundaries, headers and other fields. */
const FORM_BYTES = 64 * 1024;
/** Fields of a form. */
export const FORM_FIELDS_MAX = 32;
/** Bytes of one field. */
export const FORM_FIELD_BYTES_MAX = 4 * 1024;
const LIMITS = {
  fields: FORM_FIELDS_MAX,
  fieldSize: FORM_FIELD_BYTES_MAX,
  files: 1,
  parts: FORM_FIELDS_MAX + 1,
  headerPairs: 16,
  headerSize: 8 * 1024,
};

/** The parser gets at most this many bytes in one turn. The runtime may deliver a large part of a form, whose parts can take the parser 20 ms. */
const PIECE_BYTES = 32 * 1024;

export interface FormFile {
  /** name in the browser, without folders */
  name: string;
  /** can be read once; throws HttpError 400 for a truncated form and 408 for a slow one */
  bytes: AsyncIterable<Uint8Array>;
}

export interface StreamedForm {
  /** the fields before the file */
  fields: Readonly<Record<string, string>>;
  /** undefined if the form has none */
  file: FormFile | undefined;
  /** Discards the unread rest, so that the sender gets the response. */
  end(): Promise<void>;
}

/**
 * Reads a form as far as its file.
 * @param bytesMax of the file: a larger form is refused if it declares its length, otherwise the file ends after one more byte
 * @throws HttpError 413, 415 for another media type, 400 for a malformed or cut form, 408 for a slow one
 */
export async function openStreamedForm(
  request: Request,
  { bytesMax, times = ARCHIVE_TIMES }: { bytesMax: number; times?: UploadTimes | undefined },
): Promise<StreamedForm> {
  const contentType = request.headers.get("content-type") ?? "";
  if (contentTypeOf(request).mediaType !== "multipart/form-data")
    throw new HttpError(415, "request.media_type", "send the form as multipart/form-data");
  refuseEncoded(request);
  const length = declaredLength(request, bytesMax + FORM_BYTES);
  const parser = parserOf(contentType, bytesMax);
  const { fields, start, refusal } = watch(parser);
  const pieces = piecesUntil(refusal, streamBody(request, length, times));
  const whole = pipeline(pieces, parser).catch((error: unknown) => {
    throw refusal.aborted ? tooManyFields() : asHttpError(error);
  });
  whole.catch(start.reject);
  const file = await start.promise;
  whole.catch((error: Error) => file?.stream.destroy(error));
  const end = async () => {
    file?.stream.resume();
    await whole.catch(() => {}); // the reader of the file has met the error
  };
  return { fields, file: file && { name: file.name, bytes: piecesOf(file.stream) }, end };
}

/** @returns the fields as they arrive, a promise of the file, and a signal; exceeding a limit on fields rejects the promise and aborts the signal */
function watch(parser: BusboyInstance) {
  const fields: Record<string, string> = {};
  const start = Promise.withResolvers<FileStream | undefined>();
  const refusal = new AbortController();
  const refuse = () => {
    refusal.abort();
    start.reject(tooManyFields());
  };
  parser.on("field", (name, value, _, isCut) => {
    if (isCut) refuse();
    fields[name] = value;
  });
  for (const limit of ["fieldsLimit", "filesLimit", "partsLimit"] as const) parser.on(limit, refuse);
  parser.on("file", (_, stream, name) => {
    stream.on("error", () => {}); // nobody may read it; its reader meets the error too
    start.promise.catch(() => stream.resume());
    start.resolve({ stream, name });
  });
  parser.on("finish", () => start.resolve(undefined));
  return { fields, start, refusal: refusal.signal };
}

/** The rest of a refused form is read but not parsed, so that its sender gets the response. */
async function* piecesUntil(
  refusal: AbortSignal,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const bytes of body)
    for (let at = 0; at < bytes.length && !refusal.aborted; at += PIECE_BYTES)
      yield bytes.subarray(at, at + PIECE_BYTES);
}

interface FileStream {
  name: string;
  stream: Readable;
}

function parserOf(contentType: string, bytesMax: number) {
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      limits: { ...LIMITS, fileSize: bytesMax + 1 },
    });
  } catch {
    throw malformed(); // a form without a boundary
  }
}

/** The reader of the file may stop early; `end` reads the rest. */
async function* piecesOf(stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* stream.iterator({ destroyOnReturn: false });
  } catch (error) {
    throw asHttpError(error);
  }
}

const asHttpError = (error: unknown): HttpError => (error instanceof HttpError ? error : malformed());

const malformed = () => new HttpError(400, "request.malformed", "the body is not a multipart form");

const tooManyFields = () =>
  new HttpError(400, "request.malformed", "the form has more or longer fields than any page of this service");
