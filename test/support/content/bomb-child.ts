// A process that inspects an archive of half a gigabyte of zeros in allowed files. Prints the reason of its refusal, and the peak
// memory of the process, in KiB.
import { readFileSync } from "node:fs";
import { inspectArchive } from "../../../src/domain/catalog/archive/archive.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { gzipBomb, tarHeader } from "./tar.ts";

const FILE_BYTES = 112 * 1024 ** 2;

const part = (name: string): [Uint8Array, number] => [tarHeader({ name, size: FILE_BYTES }), FILE_BYTES];
try {
  await inspectArchive(gzipBomb(...["a", "b", "c", "d", "e"].map(part)));
} catch (error) {
  const [, peakKib] = /^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  process.stdout.write(`${error instanceof DomainError ? error.reason : error} ${peakKib}`);
}
