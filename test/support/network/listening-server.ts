// The test server behind a real socket on 127.0.0.1, for clients with their own HTTP implementation.
import { type Listener, listen } from "../../../src/server/listener/listen.ts";
import { createTestServer, type TestServer, type TestServerOptions } from "../server.ts";

/** Options of a listener that trusts no proxy. */
export const NO_PROXIES = { trustedProxies: [], forwardedHeader: "x-forwarded-for" } as const;

export interface ListeningServer extends TestServer {
  /** the service's origin, with the free port */
  origin: string;
}

export interface ListeningOptions extends TestServerOptions {
  /** the host name by which callers reach 127.0.0.1; default: the address itself */
  host?: "localhost";
}

/** @returns a test server that knows its own address; `await using` stops it */
export async function createListeningServer({
  host,
  ...options
}: ListeningOptions = {}): Promise<ListeningServer> {
  let listener: Listener | undefined;
  const baseUrl = () => (listener?.address ?? "").replace("127.0.0.1", host ?? "127.0.0.1");
  const access = { baseUrl, ...options.access };
  const server = await createTestServer({ ...options, access, sessions: { baseUrl, ...options.sessions } });
  const started = listen(server.server.handle, {
    listen: { kind: "tcp", host: "127.0.0.1", port: 0 },
    ...NO_PROXIES,
    report: raise,
  });
  listener = started;
  return {
    ...server,
    origin: baseUrl(),
    async [Symbol.asyncDispose]() {
      server.server.endStreams();
      await started.stop();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Uncaught errors of the server fail the test that caused them. */
export function raise(error: unknown): never {
  throw error;
}
