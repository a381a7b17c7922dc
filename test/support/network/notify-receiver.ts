// The service manager's end of the notify socket: a real Unix datagram socket, created with the C library.
import { dlopen, FFIType } from "bun:ffi";

export interface NotifyReceiver extends Disposable {
  /** value for $NOTIFY_SOCKET */
  readonly address: string;
  /** @returns the oldest unread message, as its assignments; undefined if none is waiting */
  take(): Record<string, string> | undefined;
  /** @returns the next message with an assignment of that name; those before it are dropped */
  next(name: string): Promise<Record<string, string>>;
}

const [AF_UNIX, SOCK_DGRAM, MSG_DONTWAIT] = [1, 2, 0x40];
const MESSAGE_BYTES_MAX = 4_096;
const LOOK_AGAIN_MS = 5;

/** @param address a path that does not exist yet, or `@` and an abstract name */
export function receiveNotifications(address: string): NotifyReceiver {
  const { i32, u32, ptr, u64_fast, i64_fast } = FFIType;
  const { symbols: libc } = dlopen("libc.so.6", {
    socket: { args: [i32, i32, i32], returns: i32 },
    bind: { args: [i32, ptr, u32], returns: i32 },
    recv: { args: [i32, ptr, u64_fast, i32], returns: i64_fast },
    close: { args: [i32], returns: i32 },
  });
  const socket = libc.socket(AF_UNIX, SOCK_DGRAM, 0);
  const family = Buffer.from(new Uint16Array([AF_UNIX]).buffer);
  const name = Buffer.concat([family, Buffer.from(address.replace(/^@/, "\0"))]);
  if (libc.bind(socket, name, name.length) !== 0) throw new Error(`cannot bind ${address}`);
  const bytes = Buffer.alloc(MESSAGE_BYTES_MAX);
  const take = (): Record<string, string> | undefined => {
    const length = Number(libc.recv(socket, bytes, bytes.length, MSG_DONTWAIT));
    if (length < 0) return undefined;
    const lines = bytes.toString("utf8", 0, length).split("\n");
    return Object.fromEntries(
      lines.map((line) => [line.split("=", 1)[0], line.slice(line.indexOf("=") + 1)]),
    );
  };
  return {
    address,
    take,
    async next(wanted) {
      for (;;) {
        const message = take();
        if (message && wanted in message) return message;
        if (!message) await Bun.sleep(LOOK_AGAIN_MS); // another process sends; the runtime cannot watch this socket
      }
    },
    [Symbol.dispose]: () => void libc.close(socket),
  };
}
