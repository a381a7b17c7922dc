// Bodies that are read in pieces, up to their limits.
import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { readPieces } from "../../../../src/server/http/bodies/body-text.ts";

test.each([
  ["too large", new Uint8Array(1_024), { status: 413, reason: "request.too_large" }],
  ["made of small chunks", new Uint8Array(1), { status: 400, reason: "request.tiny_chunks" }],
])(
  "a body that is %s is refused immediately, although its caller sends on",
  async (_name, chunk, refusal) => {
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      await setImmediate();
      controller.enqueue(chunk);
    };
    const cancel = () => new Promise<void>(() => {}); // as in the runtime, until the caller has sent everything
    const body = new ReadableStream({ pull, cancel });
    const request = new Request("http://localhost/", { method: "POST", body });
    await expect(Array.fromAsync(readPieces(request, 100_000))).rejects.toMatchObject(refusal);
  },
);
