// The inference gateway behind the service and the references, in a separate process: it creates keys, and responds at once, with
// as many chunks as the header `x-bench` asks for. `json` is the default.
import { createKeyDesk } from "../gateway/key-desk.ts";
import { BENCH_HEADER, PACE_MS, PIECE_BYTES, PIECES } from "./inference-load.ts";

const desk = createKeyDesk(0);
const JSON_BYTES = 2_048;
const encoder = new TextEncoder();
/** members of the response in addition to its text */
const FRAME_BYTES = 260;
const answer = encoder.encode(
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_767_225_600,
    model: "bench",
    choices: [
      {
        index: 0,
        finish_reason: "stop",
        message: { role: "assistant", content: "a".repeat(JSON_BYTES - FRAME_BYTES) },
      },
    ],
    usage: { prompt_tokens: 475, completion_tokens: 450, total_tokens: 925 },
  }),
);
const piece = encoder.encode(`data: ${"a".repeat(PIECE_BYTES - 8)}\n\n`);
const EVENT_STREAM = { headers: { "content-type": "text/event-stream" } };

/** Sends a chunk as soon as the previous one was accepted. */
function fastPieces(): Response {
  let left = PIECES;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (left-- > 0) controller.enqueue(piece);
    else controller.close();
  };
  return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), EVENT_STREAM);
}

/** Sends a chunk every PACE_MS, each with its send time: both ends are on one machine. */
function pacedPieces(): Response {
  let timer: Timer | undefined;
  const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    let left = PIECES;
    timer = setInterval(() => {
      const stamp = `data: ${performance.timeOrigin + performance.now()} `;
      controller.enqueue(encoder.encode(`${stamp.padEnd(PIECE_BYTES - 2, "a")}\n\n`));
      left -= 1;
      if (left > 0) return;
      clearInterval(timer);
      controller.close();
    }, PACE_MS);
  };
  return new Response(new ReadableStream({ start, cancel: () => clearInterval(timer) }), EVENT_STREAM);
}

/** Sends one chunk, and then nothing until the caller disconnects. */
const quiet = (): Response =>
  new Response(new ReadableStream({ start: (controller) => controller.enqueue(piece) }), EVENT_STREAM);

const ANSWERS: Readonly<Record<string, () => Response>> = {
  json: () => new Response(answer, { headers: { "content-type": "application/json" } }),
  fast: fastPieces,
  paced: pacedPieces,
  quiet,
};

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (!pathname.endsWith("/chat/completions")) return Response.json(await desk.answer(request));
    await request.arrayBuffer();
    const make = ANSWERS[request.headers.get(BENCH_HEADER) ?? "json"];
    return make?.() ?? new Response(null, { status: 400 });
  },
});
console.log(server.url.origin);
