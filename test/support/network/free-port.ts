// Ports for servers of other programs, which need a port number.

const PATIENCE_MS = 10_000;

/** @returns a port of 127.0.0.1 that is free now */
export function freePort(): number {
  using listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  return listener.port;
}

/** Resolves once a server listens on the port. @throws the error of the connection after 10 seconds */
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
