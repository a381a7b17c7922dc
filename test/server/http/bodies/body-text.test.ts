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

test("a large chunk is passed on in parts, and freed when the next chunk is requested", async () => {
  const chunks = [new Uint8Array(300_000).fill(1), new Uint8Array(70_000).fill(2)];
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const request = new Request("http://localhost/", { method: "POST", body });
  const [pieces, lengths, held]: [Uint8Array[], number[], number[]] = [[], [], []];
  for await (const piece of readPieces(request, 1_000_000)) {
    lengths.push(piece.length);
    held.push(...chunks.map(({ byteLength }) => byteLength));
    pieces.push(piece.slice());
  }
  expect(lengths).toEqual([131_072, 131_072, 37_856, 70_000]);
  expect(held).toEqual([300_000, 70_000, 300_000, 70_000, 300_000, 70_000, 0, 70_000]);
  expect(chunks.map(({ byteLength }) => byteLength)).toEqual([0, 0]);
  expect(Buffer.concat(pieces)).toEqual(Buffer.concat([Buffer.alloc(300_000, 1), Buffer.alloc(70_000, 2)]));
});
