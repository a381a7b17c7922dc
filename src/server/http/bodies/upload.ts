// Reads a form with one file: multipart/form-data (RFC 7578), as a browser without JavaScript sends it. Our pages send
// a kept form again without its file; it is read like other forms.
import { HttpError } from "../problems/problem.ts";
import { contentTypeOf, readBytes, refuseEncoded } from "./body-text.ts";

/** Bytes of a form without its file: boundaries, headers and other fields. */
const FORM_BYTES = 64 * 1024;
/** Maximum number of fields of a form, including its file: the merge of a draft has two for each place. Each costs the runtime 5 µs. */
export const UPLOAD_FIELDS_MAX = 2_048;
/** Bytes of a form without parts: the values that a page keeps (64 KiB), as escaped by a browser. */
export const ESCAPED_FORM_BYTES_MAX = 3 * FORM_BYTES;

export interface Upload {
  fields: Readonly<Record<string, string>>;
  /** undefined if no file was chosen */
  file: Uint8Array<ArrayBuffer> | undefined;
}

/**
 * @param fileBytesMax a form with a larger file is refused; one that is slightly larger may pass
 * @throws HttpError 413, 415 for another media type, 400 for a malformed body, and those of readBytes
 */
export async function readUpload(request: Request, fileBytesMax: number): Promise<Upload> {
  const { mediaType } = contentTypeOf(request);
  const isInParts = mediaType === "multipart/form-data";
  if (!isInParts && mediaType !== "application/x-www-form-urlencoded")
    throw new HttpError(415, "request.media_type", "send the form as multipart/form-data");
  refuseEncoded(request);
  const boundary = isInParts ? boundaryOf(request) : undefined;
  const bytesMax = fileBytesMax + FORM_BYTES;
  const bytes = await readBytes(request, isInParts ? bytesMax : Math.min(bytesMax, ESCAPED_FORM_BYTES_MAX));
  const isTooMany =
    boundary === undefined
      ? hasMore(bytes, "&", UPLOAD_FIELDS_MAX - 1)
      : hasMore(bytes, `--${boundary}`, UPLOAD_FIELDS_MAX + 1);
  if (isTooMany) throw tooManyFields();
  const form = await formIn(bytes, boundary === undefined ? mediaType : `${mediaType}; boundary=${boundary}`);
  const fields: Record<string, string> = {};
  let file: Uint8Array<ArrayBuffer> | undefined;
  for (const [name, value] of form) {
    if (typeof value === "string") fields[name] = value;
    else if (value.size > 0) file ??= await value.bytes();
  }
  return { fields, file };
}

/** As RFC 2046 section 5.1.1 allows it, without spaces; RFC 2045 requires quotes around some of it. */
const BOUNDARY = /;\s*boundary=("?)([\w'()+,./:=?-]{1,70})\1\s*(?:;|$)/i;

/** @throws HttpError 400 */
function boundaryOf({ headers }: Request): string {
  const boundary = BOUNDARY.exec(headers.get("content-type") ?? "")?.[2];
  if (boundary === undefined) throw malformed();
  return boundary;
}

/** Counted before the runtime parses the form, because parsing each field delays other requests. */
function hasMore(bytes: Uint8Array<ArrayBuffer>, mark: string, countMax: number): boolean {
  const searched = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = -1;
  for (let count = 0; count <= countMax; count += 1) {
    at = searched.indexOf(mark, at + 1);
    if (at < 0) return false;
  }
  return true;
}

async function formIn(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<FormData> {
  try {
    return await new Response(bytes, { headers: { "content-type": type } }).formData();
  } catch {
    throw malformed();
  }
}

const malformed = () => new HttpError(400, "request.malformed", "the body is not a multipart form");

const tooManyFields = () =>
  new HttpError(400, "request.malformed", `the form has more than ${UPLOAD_FIELDS_MAX} fields`);
