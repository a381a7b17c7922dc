// Entry point of the thread that writes and hashes large files. It knows files by their descriptors, which the other side opens and
// closes. write-thread.ts starts it.
import { writeSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { codeOf } from "../errors.ts";
import type { WriteAnswer, WriteRequest } from "./write-thread.ts";

/** Below the thread that answers requests, so that uploads leave it most of a busy processor. */
const NICENESS = 5;

/** On Linux the number 0 means the calling thread, elsewhere the whole process. A sandbox may forbid it, and nothing depends on it. */
function yieldToRequests(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, Math.min(constants.priority.PRIORITY_LOW, getPriority(0) + NICENESS));
  } catch {}
}

const digests = new Map<number, Bun.CryptoHasher>();

function hasherOf(id: number): Bun.CryptoHasher {
  const known = digests.get(id);
  if (known) return known;
  const hasher = new Bun.CryptoHasher("sha256");
  digests.set(id, hasher);
  return hasher;
}

function write(id: number, fd: number, piece: Uint8Array<ArrayBuffer>): void {
  hasherOf(id).update(piece);
  for (let offset = 0; offset < piece.byteLength; ) offset += writeSync(fd, piece, offset);
  piece.buffer.transfer(0); // frees the memory now, which the collector of this thread might do much later
}

function answerTo(request: WriteRequest): WriteAnswer {
  const { id } = request;
  if ("piece" in request) write(id, request.fd, request.piece);
  else if ("digest" in request) return { id, digest: hasherOf(id).digest("hex") };
  else digests.delete(id);
  return { id };
}

yieldToRequests();
parentPort?.on("message", (request: WriteRequest) => {
  let answer: WriteAnswer;
  try {
    answer = answerTo(request);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    answer = { id: request.id, failed: { message, code: codeOf(error) } };
  }
  parentPort?.postMessage(answer);
});
