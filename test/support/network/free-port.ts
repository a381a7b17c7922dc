// Ports for servers of other people, which have to be told one.
import { createServer } from "node:net";

const PATIENCE_MS = 10_000;

/** @returns a port on 127.0.0.1 where nobody listens */
export async function freePort(): Promise<number> {
  const server = createServer();
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const address = server.address();
  const closed = Promise.withResolvers<void>();
  server.close(() => closed.resolve());
  await closed.promise;
  return typeof address === "object" && address ? address.port : 0;
}

/** Resolves once somebody listens on the port. */
export async function accepting(port: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
      socket.end();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await Bun.sleep(50);
    }
  }
}
