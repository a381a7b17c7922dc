// A server on this machine that speaks TLS under several names, and the options with which downloads from public hosts accept it.
import { generate } from "selfsigned";
import type { PublicHosts } from "../../../src/platform/outbound/public-https.ts";

export interface TlsServer extends Disposable {
  /** origin under `name`, with the port */
  origin(name?: string): string;
  port: number;
  /** certificate in PEM, which no runtime trusts by itself */
  ca: string;
  /** `METHOD host /path` of received requests, oldest first */
  seen: string[];
  /** every name leads to this server, whose address counts as public */
  hosts: PublicHosts;
}

export const PUBLIC_NAME = "packages.example";

/** @param response the server's response @returns a server that listens on 127.0.0.1 until it is disposed */
export async function createTlsServer(
  response: (request: Request) => Response | Promise<Response>,
  { names = [PUBLIC_NAME] }: { names?: readonly string[] } = {},
): Promise<TlsServer> {
  const { cert, private: key } = await certificateFor(names);
  const seen: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { cert, key },
    fetch(request) {
      const { host, pathname } = new URL(request.url);
      seen.push(`${request.method} ${host} ${pathname}`);
      return response(request);
    },
  });
  return described({ port: Number(server.port), ca: cert, seen, stop: () => void server.stop(true) });
}

/** @param response sent unchanged to every request; then the connection is closed */
export async function createRawTlsServer(response: string): Promise<TlsServer> {
  const { cert, private: key } = await certificateFor([PUBLIC_NAME]);
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    tls: { cert, key },
    socket: { data: (socket) => void socket.end(response) },
  });
  return described({ port: server.port, ca: cert, seen: [], stop: () => void server.stop(true) });
}

const described = ({
  stop,
  ...server
}: Pick<TlsServer, "port" | "ca" | "seen"> & { stop(): void }): TlsServer => ({
  ...server,
  origin: (name = PUBLIC_NAME) => `https://${name}:${server.port}`,
  hosts: {
    isPublic: (address) => address === "127.0.0.1",
    resolve: async () => [{ address: "127.0.0.1", family: 4 }],
    ca: server.ca,
  },
  [Symbol.dispose]: stop,
});

/** @returns a certificate for the names and for 127.0.0.1, valid now */
const certificateFor = (names: readonly string[]) =>
  generate([{ name: "commonName", value: names[0] ?? "localhost" }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions: [
      {
        name: "subjectAltName",
        altNames: [...names.map((value) => ({ type: 2 as const, value })), { type: 7, ip: "127.0.0.1" }],
      },
    ],
  });
