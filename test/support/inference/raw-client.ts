// A client on a raw socket: it writes the given bytes of a request, and records the response and the end of the
// connection.
import { connect, type Socket } from "node:net";

export class RawClient {
  readonly socket: Socket;
  /** everything received, as latin1 */
  text = "";
  /** when the connection is open */
  readonly connected: Promise<void>;
  /** when the connection has closed: whether it was reset, or ended cleanly */
  readonly ended: Promise<"reset" | "closed">;
  #arrivals: (() => void)[] = [];

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    this.socket.setNoDelay(true);
    this.connected = new Promise((resolve) => this.socket.once("connect", resolve));
    const { promise, resolve } = Promise.withResolvers<"reset" | "closed">();
    this.ended = promise;
    let isReset = false;
    this.socket.on("data", (bytes: Buffer) => {
      this.text += bytes.toString("latin1");
      this.#wake();
    });
    this.socket.on("error", () => {
      isReset = true;
    });
    this.socket.on("close", () => {
      resolve(isReset ? "reset" : "closed");
      this.#wake();
    });
  }

  /** Sends a whole POST request, or its head and a part of its body. */
  static post(
    port: number,
    path: string,
    body: string,
    { length = Buffer.byteLength(body), headers = "" } = {},
  ): RawClient {
    const client = new RawClient(port);
    const head = `POST ${path} HTTP/1.1\r\nHost: proxy\r\n${headers}Content-Length: ${length}\r\n\r\n`;
    client.write(head + body);
    return client;
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** the part after the head, without the framing of chunks */
  get body(): Buffer {
    const end = this.text.indexOf("\r\n\r\n");
    const raw = Buffer.from(end < 0 ? "" : this.text.slice(end + 4), "latin1");
    return /\r\ntransfer-encoding: chunked/i.test(this.text.slice(0, end)) ? withoutFraming(raw) : raw;
  }

  /** whether the body reached the end that its framing declares */
  get isWhole(): boolean {
    const end = this.text.indexOf("\r\n\r\n");
    if (end < 0) return false;
    const head = this.text.slice(0, end);
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    if (length !== undefined) return this.text.length - end - 4 >= Number(length);
    return this.text.endsWith("0\r\n\r\n");
  }

  get status(): number {
    return Number(this.text.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length));
  }

  /** Waits until the received bytes meet the condition; fails if the connection closes before. */
  async until(isMet: (client: this) => boolean): Promise<void> {
    while (!isMet(this)) {
      if (this.socket.destroyed) throw new Error(`the connection closed after: ${this.text}`);
      await new Promise<void>((resolve) => this.#arrivals.push(resolve));
    }
  }

  /** Disconnects immediately: with FIN, or with RST. */
  leave(how: "fin" | "rst" = "fin"): void {
    if (how === "fin") this.socket.destroy();
    else this.socket.resetAndDestroy();
  }

  #wake(): void {
    const waiting = this.#arrivals;
    this.#arrivals = [];
    for (const resolve of waiting) resolve();
  }
}

function withoutFraming(raw: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < raw.length; ) {
    const lineEnd = raw.indexOf("\r\n", at);
    if (lineEnd < 0) break;
    const size = Number.parseInt(raw.toString("latin1", at, lineEnd), 16);
    if (!(size > 0)) break;
    pieces.push(raw.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(pieces);
}
