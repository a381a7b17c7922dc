// A client that writes bytes to a socket as told and records the response, for requests that no HTTP client sends.
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

/** Bytes to write, or milliseconds to wait before the next ones. */
export type Step = string | number;

/** Milliseconds to wait for the server to close the connection after the last step. */
const PATIENCE_MS = 400;

/** Writes the steps one after another. @returns the response until the server closed the connection, or the time limit passed */
export async function converse(
  { address }: Place,
  steps: readonly Step[],
  waitMaxMs = PATIENCE_MS,
): Promise<Conversation> {
  const socket = socketTo(address);
  const closed = Promise.withResolvers<boolean>();
  let text = "";
  socket.on("data", (bytes) => {
    text += String(bytes);
  });
  socket.on("error", () => {}); // a write after the server closed; `close` follows
  socket.on("close", () => closed.resolve(true));
  for (const step of steps) {
    if (typeof step === "number") await Promise.race([Bun.sleep(step), closed.promise]);
    else if (socket.writable) socket.write(step);
  }
  const isClosed = await Promise.race([closed.promise, Bun.sleep(waitMaxMs).then(() => false)]);
  socket.destroy();
  return { text, isClosed };
}

function socketTo(address: string): Socket {
  if (address.startsWith("unix:")) return connect(address.slice("unix:".length));
  const { protocol, hostname: host, port } = new URL(address);
  const place = { host, port: Number(port) };
  return protocol === "https:" ? connectTls({ ...place, rejectUnauthorized: false }) : connect(place);
}
