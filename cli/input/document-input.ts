// Reads a document that a command is given: a file, or standard input for `-`.
import { resolve } from "node:path";
import { DomainError } from "../../src/platform/errors.ts";
import { readFile } from "../../src/platform/files/operator-files.ts";
import type { Context } from "../context.ts";

/** @throws DomainError `file.*`; `file.too_large` beyond `bytesMax` bytes */
export async function readDocument(context: Context, path: string, bytesMax: number): Promise<Uint8Array> {
  if (path !== "-") return await readFile(resolve(context.cwd, path), bytesMax);
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const part of context.stdin) {
    sizeBytes += part.length;
    if (sizeBytes > bytesMax)
      throw new DomainError("invalid", "file.too_large", `standard input is longer than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
