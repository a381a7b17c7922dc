// An address that neither accepts nor refuses connections, like a host behind a firewall that drops packets: a listening socket
// whose queue is full, created with the C library, because the runtime accepts every connection.
import { dlopen, FFIType } from "bun:ffi";
import { connect } from "node:net";

const [AF_INET, SOCK_STREAM, ADDRESS_BYTES] = [2, 1, 16];

export interface FullBacklog extends AsyncDisposable {
  origin: string;
}

export async function createFullBacklog(): Promise<FullBacklog> {
  const { i32, u32, ptr } = FFIType;
  const { symbols: libc } = dlopen("libc.so.6", {
    socket: { args: [i32, i32, i32], returns: i32 },
    bind: { args: [i32, ptr, u32], returns: i32 },
    listen: { args: [i32, i32], returns: i32 },
    getsockname: { args: [i32, ptr, ptr], returns: i32 },
    close: { args: [i32], returns: i32 },
  });
  const descriptor = libc.socket(AF_INET, SOCK_STREAM, 0);
  const address = Buffer.alloc(ADDRESS_BYTES);
  address.writeUInt16LE(AF_INET, 0);
  address.set([127, 0, 0, 1], 4);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(ADDRESS_BYTES, 0);
  const isListening = libc.bind(descriptor, address, ADDRESS_BYTES) === 0 && libc.listen(descriptor, 0) === 0;
  if (!isListening || libc.getsockname(descriptor, address, length) !== 0) throw new Error("cannot listen");
  const port = address.readUInt16BE(2);
  const first = connect(port, "127.0.0.1"); // occupies the only place in the queue
  await new Promise((resolve) => first.once("connect", resolve));
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      first.destroy();
      libc.close(descriptor);
    },
  };
}
