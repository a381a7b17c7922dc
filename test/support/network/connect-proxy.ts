// A proxy on this machine that only tunnels (CONNECT, RFC 9110 section 9.3.6): every host name leads to one port here.
import { connect, createServer } from "node:net";

export interface ConnectProxy extends AsyncDisposable {
  origin: string;
  /** first lines of the requests, oldest first */
  requests: string[];
  /** bytes that clients sent into tunnels, as text */
  sent(): string;
}

/**
 * @param target port on 127.0.0.1 where all tunnels end
 * @param authorization required value of the header `Proxy-Authorization`; undefined accepts everybody
 */
export async function createConnectProxy(
  target: number,
  { authorization }: { authorization?: string } = {},
): Promise<ConnectProxy> {
  const requests: string[] = [];
  const sent: Buffer[] = [];
  const server = createServer((client) => {
    client.on("error", () => {}); // a client that rejects the certificate disconnects
    client.once("data", (head) => {
      const [line = "", ...headers] = head.toString().split("\r\n");
      requests.push(line);
      const given = headers
        .find((header) => /^proxy-authorization:/i.test(header))
        ?.replace(/^[^:]*:\s*/, "");
      if (authorization !== undefined && given !== authorization) {
        client.end(
          "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=proxy\r\n\r\n",
        );
        return;
      }
      const peer = connect(target, "127.0.0.1", () => {
        client.write("HTTP/1.1 200 Connection established\r\n\r\n");
        client.on("data", (chunk) => void sent.push(Buffer.from(chunk)));
        client.pipe(peer).pipe(client);
      });
      peer.on("error", () => client.destroy());
    });
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    sent: () => Buffer.concat(sent).toString("latin1"),
    [Symbol.asyncDispose]: async () => {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      await closed.promise;
    },
  };
}
