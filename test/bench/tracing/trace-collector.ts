// A collector that accepts every trace and keeps none, so that only the cost of sending is measured.

/** Listens on a free port of 127.0.0.1. */
export function startTraceCollector(): Disposable & { origin: string } {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      await request.bytes();
      return Response.json({});
    },
  });
  return { origin: server.url.origin, [Symbol.dispose]: () => void server.stop(true) };
}
