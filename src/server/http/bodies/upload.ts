// Reads a form with one file: multipart/form-data (RFC 7578), as a browser without JavaScript sends it. The same form without its file,
// as our pages keep it when it has to be sent again, is read as other forms are.
import { HttpError } from "../problems/problem.ts";
import { contentTypeOf, readBytes, refuseEncoded } from "./body-text.ts";

/** Bytes of a form beside its file: boundaries, headers and other fields. */
const FORM_BYTES = 64 * 1024;

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
  const type = request.headers.get("content-type") ?? "";
  const { mediaType } = contentTypeOf(request);
  if (mediaType !== "multipart/form-data" && mediaType !== "application/x-www-form-urlencoded")
    throw new HttpError(415, "request.media_type", "send the form as multipart/form-data");
  refuseEncoded(request);
  const bytes = await readBytes(request, fileBytesMax + FORM_BYTES);
  const form = await formIn(bytes, type);
  const fields: Record<string, string> = {};
  let file: Uint8Array<ArrayBuffer> | undefined;
  for (const [name, value] of form) {
    if (typeof value === "string") fields[name] = value;
    else if (value.size > 0) file ??= await value.bytes();
  }
  return { fields, file };
}

async function formIn(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<FormData> {
  try {
    return await new Response(bytes, { headers: { "content-type": type } }).formData();
  } catch {
    throw new HttpError(400, "request.malformed", "the body is no form with parts");
  }
}
