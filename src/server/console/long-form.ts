// Forms with a text of up to a whole policy. They exceed the body limit of unauthenticated callers, so they are read
// after their sender is authenticated. For a sender without the right, the form is read up to that lower limit, so that
// the page of the refusal keeps the text.
import { DOCUMENT_BYTES_MAX } from "../../domain/governance/model.ts";
import { readUpload } from "../http/bodies/upload.ts";
import { HttpError } from "../http/problems/problem.ts";

/** Bytes of a text in a form. */
export const FORM_TEXT_BYTES_MAX = DOCUMENT_BYTES_MAX;
/** Browsers send each line end as two characters. */
const SENT_BYTES = 2 * FORM_TEXT_BYTES_MAX;

/**
 * @param isLong whether the sender may send a long text
 * @returns the fields, without empty ones; undefined if the form is too long to be read
 * @throws HttpError as readUpload
 */
export async function readLongForm(
  request: Request,
  isLong: boolean,
): Promise<Record<string, string> | undefined> {
  try {
    const { fields } = await readUpload(request, isLong ? SENT_BYTES : 0);
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""));
  } catch (error) {
    if (error instanceof HttpError && error.status === 413) return undefined;
    throw error;
  }
}

/** @returns a text of a form with the line ends that it had before the browser sent it */
export function withoutReturns(text: string): string {
  if (!text.includes(RETURN)) return text;
  const bytes = Buffer.from(text); // for two million lines, replacing in the text takes 20 times as long
  const length = bytes.length;
  let kept = 0;
  for (let at = 0; at < length; at += 1) {
    if (bytes[at] === 0x0d && bytes[at + 1] === 0x0a) continue;
    bytes[kept] = bytes[at] ?? 0;
    kept += 1;
  }
  return bytes.toString("utf8", 0, kept);
}

const RETURN = "\r\n";

/** @returns why the text cannot be saved; undefined if it can */
export function lengthProblem(text: string): string | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes <= FORM_TEXT_BYTES_MAX) return undefined;
  return `the text has ${bytes} bytes; a policy has at most ${FORM_TEXT_BYTES_MAX}`;
}
