// Entry point of the thread that writes and hashes large files. It receives file descriptors, which the main thread opens
// and closes. write-thread.ts starts it.
import { writeSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { codeOf } from "../errors.ts";
import { UPLOAD_NICENESS, yieldToRequests } from "../programs/priority.ts";
import type { WriteRequest, WriteResponse } from "./write-thread.ts";

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
  piece.buffer.transfer(0); // frees the memory now; this thread's garbage collector might do so much later
}

function responseTo(request: WriteRequest): WriteResponse {
  const { id } = request;
  if ("piece" in request) write(id, request.fd, request.piece);
  else if ("digest" in request) return { id, digest: hasherOf(id).digest("hex") };
  else digests.delete(id);
  return { id };
}

// Every byte received also takes time in the thread that answers requests, so the pace of this thread limits how much
// uploads slow other requests.
yieldToRequests(UPLOAD_NICENESS);
parentPort?.on("message", (request: WriteRequest) => {
  let response: WriteResponse;
  try {
    response = responseTo(request);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    response = { id: request.id, failed: { message, code: codeOf(error) } };
  }
  parentPort?.postMessage(response);
});
