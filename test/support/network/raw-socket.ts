// A client that writes the given bytes to a socket and records the response, for requests that no HTTP client sends.
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** Where a server listens. */
export interface Place {
  /** in the form of a Listener: an origin, or `unix:/path` */
  address: string;
}

export interface Conversation {
  /** all that the server sent */
  text: string;
  /** whether the server closed the connection within the time limit */
  isClosed: boolean;
}

/** Bytes to write, or a wait before the next bytes: milliseconds, or an event. */
export type Step = string | number | Promise<unknown>;

/** Milliseconds to wait for the server to close the connection after the last step. */
const PATIENCE_MS = 400;

/**
 * Writes the steps one after another.
 * @param wait milliseconds to wait after the last step, or a text in the awaited response
 * @returns the response until the server closed the connection, or the wait was over
 */
export async function converse(
  { address }: Place,
  steps: readonly Step[],
  wait: number | RegExp = PATIENCE_MS,
): Promise<Conversation> {
  const socket = socketTo(address);
  const closed = Promise.withResolvers<boolean>();
  const found = Promise.withResolvers<boolean>();
  let text = "";
  socket.on("data", (bytes) => {
    text += String(bytes);
    if (wait instanceof RegExp && wait.test(text)) found.resolve(false);
  });
  socket.on("error", () => {}); // a write after the server closed; `close` follows
  socket.on("close", () => closed.resolve(true));
  for (const step of steps) {
    if (typeof step === "string") void (socket.writable && socket.write(step));
    else await Promise.race([typeof step === "number" ? Bun.sleep(step) : step, closed.promise]);
  }
  const over = wait instanceof RegExp ? found.promise : Bun.sleep(wait).then(() => false);
  const isClosed = await Promise.race([closed.promise, over]);
  socket.destroy();
  return { text, isClosed };
}

function socketTo(address: string): Socket {
  if (address.startsWith("unix:")) return connect(address.slice("unix:".length));
  const { protocol, hostname: host, port } = new URL(address);
  const place = { host, port: Number(port) };
  return protocol === "https:" ? connectTls({ ...place, rejectUnauthorized: false }) : connect(place);
}
