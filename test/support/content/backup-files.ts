// Changes files of backups consistently with their format.
import { readFileSync, writeFileSync } from "node:fs";
import { MANIFEST_BYTES } from "../../../src/domain/backup/model.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";

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

/** Adds the last artifact of a backup a second time, with a manifest that counts it twice. */
export function repeatArtifact(
  path: string,
  { digest, sizeBytes }: { digest: string; sizeBytes: number },
): void {
  const bytes = readFileSync(path);
  const end = bytes.length - SEAL_FROM_END - 512;
  const member = bytes.subarray(end - 1024, end);
  writeFileSync(path, Buffer.concat([bytes.subarray(0, end), member, bytes.subarray(end)]));
  const artifacts = {
    count: 2,
    size_bytes: 2 * sizeBytes,
    sha256: sha256Hex(`${digest} ${sizeBytes}\n`.repeat(2)),
    left_out: [],
  };
  changeManifest(path, (text) => JSON.stringify({ ...JSON.parse(text), artifacts }));
}
