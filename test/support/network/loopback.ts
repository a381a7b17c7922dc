// Preloaded by the child of airgap.test.ts: turns on the loopback interface of its network namespace like `ip link set lo up`,
// which not every machine has.
import { dlopen, FFIType } from "bun:ffi";

const AF_INET = 2;
const SOCK_DGRAM = 2;
/** linux/sockios.h */
const SIOCSIFFLAGS = 0x8914;
const IFF_UP = 1;
const IFREQ_BYTES = 40;
const FLAGS_OFFSET = 16;

const { symbols: libc } = dlopen("libc.so.6", {
  socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  ioctl: { args: [FFIType.i32, FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
});

const request = Buffer.alloc(IFREQ_BYTES);
request.write("lo");
request.writeInt16LE(IFF_UP, FLAGS_OFFSET);
const socket = libc.socket(AF_INET, SOCK_DGRAM, 0);
if (libc.ioctl(socket, SIOCSIFFLAGS, request) !== 0) throw new Error("loopback cannot be switched on");
