// Changes files of backups the way somebody would who knows the format.
import { readFileSync, writeFileSync } from "node:fs";
import { MANIFEST_BYTES } from "../../src/domain/backup/model.ts";
import { sha256Hex } from "../../src/platform/ids.ts";

const MANIFEST_AT = 512;
const SEAL_FROM_END = 3 * 512;

/** Changes the manifest, and its digest at the end of the file. */
export function changeManifest(path: string, change: (text: string) => string): void {
  const bytes = readFileSync(path);
  const text = change(bytes.toString("utf8", MANIFEST_AT, MANIFEST_AT + MANIFEST_BYTES));
  const manifest = Buffer.from(
    text
      .trimEnd()
      .padEnd(MANIFEST_BYTES - 1)
      .concat("\n"),
  );
  manifest.copy(bytes, MANIFEST_AT);
  bytes.write(sha256Hex(manifest), bytes.length - SEAL_FROM_END);
  writeFileSync(path, bytes);
}
