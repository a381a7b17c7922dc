// One Unix datagram socket to the service manager, through the C library, because the runtime has no such sockets. notify.ts
// defines the messages.
import { dlopen, FFIType } from "bun:ffi";
import { DomainError } from "../errors.ts";

export interface NotifySocket {
  /** @returns whether the manager's queue accepted it */
  send(text: string): boolean;
  /** @returns microseconds of CLOCK_MONOTONIC, which the runtime does not offer */
  monotonicUs(): bigint;
  close(): void;
}

/** Bytes of sun_path in unix(7). */
export const SOCKET_PATH_BYTES_MAX = 108;

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
/** children must not send messages for us */
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SO_SNDTIMEO = 21;
const CLOCK_MONOTONIC = 1;
/** A message that `systemd` does not accept within this time is lost, because requests wait for it. */
const SEND_TIMEOUT_SECONDS = 1n;

/**
 * @param address as in $NOTIFY_SOCKET: an absolute path, or `@` and an abstract name
 * @throws DomainError `notify.address_unknown`; `notify.unavailable` if executable memory is forbidden, because then nothing
 *   can call the C library
 * @source sd_notify(3)
 */
export function openNotifySocket(address: string): NotifySocket {
  const target = addressOf(address);
  const { symbols: libc } = openLibrary();
  const socket = libc.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const timeout = new BigInt64Array([SEND_TIMEOUT_SECONDS, 0n]);
  libc.setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, timeout, timeout.byteLength);
  return {
    send(text) {
      const bytes = Buffer.from(text);
      return libc.sendto(socket, bytes, bytes.length, 0, target, target.length) === bytes.length;
    },
    monotonicUs() {
      const time = new BigInt64Array(2);
      libc.clock_gettime(CLOCK_MONOTONIC, time);
      const [seconds = 0n, nanoseconds = 0n] = time;
      return seconds * 1_000_000n + nanoseconds / 1_000n;
    },
    close: () => void libc.close(socket),
  };
}

function openLibrary() {
  const { i32, u32, ptr, u64_fast, i64_fast } = FFIType;
  try {
    return dlopen("libc.so.6", {
      socket: { args: [i32, i32, i32], returns: i32 },
      setsockopt: { args: [i32, i32, i32, ptr, u32], returns: i32 },
      sendto: { args: [i32, ptr, u64_fast, i32, ptr, u32], returns: i64_fast },
      clock_gettime: { args: [i32, ptr], returns: i32 },
      close: { args: [i32], returns: i32 },
    });
  } catch (cause) {
    const message = `the service manager cannot be notified: ${cause instanceof Error ? cause.message : cause}`;
    throw new DomainError("unavailable", "notify.unavailable", message, {
      hint: "a unit with MemoryDenyWriteExecute=yes also needs Type=exec, NotifyAccess=none and WatchdogSec=0",
      cause,
    });
  }
}

/** @returns struct sockaddr_un; an abstract name starts with a zero byte and has no terminator */
function addressOf(address: string): Uint8Array {
  const path = Buffer.from(address.replace(/^@/, "\0"));
  if (/^[@/]/.test(address) && path.length <= SOCKET_PATH_BYTES_MAX) {
    return Buffer.concat([Buffer.from(new Uint16Array([AF_UNIX]).buffer), path]);
  }
  throw new DomainError(
    "invalid",
    "notify.address_unknown",
    `NOTIFY_SOCKET is neither a path nor an abstract name of at most ${SOCKET_PATH_BYTES_MAX} bytes: ${address}`,
  );
}
