// The example of an image, which the chapter on installation shows. `quartermaster help containerfile` prints it.
import { invariant } from "../platform/errors.ts";
import { handbookText } from "./chapters.ts";

const BLOCK = /^```dockerfile[^\n]*\n(.*?)\n```$/ms;

/** @returns the Containerfile, without a trailing newline */
export function containerfile(): string {
  const [, text] = BLOCK.exec(handbookText("install") ?? "") ?? [];
  invariant(text, "the chapter install has a Containerfile");
  return text;
}
