// The test server behind a real socket on 127.0.0.1, for clients that bring their own HTTP.
import { type Listener, listen } from "../../../src/server/listener/listen.ts";
import { createTestServer, type TestServer, type TestServerOptions } from "../server.ts";

/** Options of a listener that believes nobody. */
export const NO_PROXIES = { trustedProxies: [], forwardedHeader: "x-forwarded-for" } as const;

export interface ListeningServer extends TestServer {
  /** our origin, with the port that was free */
  origin: string;
}

export interface ListeningOptions extends TestServerOptions {
  /** the name by which callers reach 127.0.0.1; the address itself when left out */
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

/** What escapes the server fails the test that caused it. */
export function raise(error: unknown): never {
  throw error;
}
