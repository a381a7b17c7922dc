// Sends bytes over one TLS connection to a peer that never responds, such as a syslog receiver. TLS delivers in order: a peer
// that closes its side after ours has read everything; a peer that stops earlier resets the connection or closes its side
// first. The protocol has no other confirmation, so each delivery uses its own connection.
import { isIP } from "node:net";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";

type DeliveryOptions = Pick<ConnectionOptions, "ca" | "cert" | "key" | "rejectUnauthorized"> & {
  signal: AbortSignal;
};

/** Time between the last byte and closing our side. A proxy whose server is down closes the connection within this time. */
const EARLY_END_MS = 200;

/**
 * Sends the bytes, closes our side, and waits until the peer closes its side.
 * @throws the error of the connection; the reason of the signal
 */
export async function deliver(
  { hostname, port }: URL,
  bytes: Uint8Array,
  options: DeliveryOptions,
): Promise<void> {
  const { signal, ...tls } = options;
  signal.throwIfAborted();
  const host = hostname.replace(/^\[|\]$/g, "");
  const named = isIP(host) === 0 && { servername: host };
  const socket = connect({ ...tls, ...named, host, port: Number(port) });
  const stop = () => socket.destroy(asError(signal.reason));
  signal.addEventListener("abort", stop, { once: true });
  try {
    await delivered(socket, bytes);
  } finally {
    signal.removeEventListener("abort", stop);
    socket.destroy();
  }
}

function delivered(socket: TLSSocket, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    let isEnded = false;
    const end = () => {
      isEnded = true;
      socket.end();
    };
    const settle = () => {
      if (isEnded) resolve();
      else reject(new Error("the peer closed the connection before it had read everything"));
    };
    let waiting: NodeJS.Timeout | undefined;
    socket.once("error", reject);
    socket.once("secureConnect", () =>
      socket.write(bytes, () => {
        waiting = setTimeout(end, EARLY_END_MS);
      }),
    );
    socket.once("end", settle);
    socket.once("close", () => {
      clearTimeout(waiting);
      settle();
    });
    socket.resume(); // data from the peer is discarded
  });
}

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));
