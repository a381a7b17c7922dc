// Load on etcd over its own protocol, gRPC, in a separate process: N connections with one Put in flight on each. It implements only
// the parts of HTTP/2 that this needs (RFC 9113; its header block is uncompressed, RFC 7541 section 6.2.2).

/** Read from standard input, as JSON. */
export interface EtcdPlan {
  port: number;
  connections: number;
  seconds: number;
  /** stored in turn, over all connections */
  puts: readonly { key: string; value: string }[];
}

export interface EtcdResult {
  perSecond: number;
  /** refused Puts, and broken connections */
  errors: number;
}

const FRAME = { data: 0, headers: 1, settings: 4, ping: 6, windowUpdate: 8 } as const;
const HEAD_BYTES = 9;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;
/** flow-control window of all responses on a connection: more than a run receives */
const WINDOW_BYTES = 2 ** 30;

interface Connection {
  stream: number;
  /** a response with a message is a success: a refusal has none */
  hasMessage: boolean;
  received: Buffer;
}
type Socket = Bun.Socket<Connection>;

function frame(
  type: number,
  flags: number,
  { stream, payload }: { stream: number; payload: Buffer },
): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const GREETING = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  frame(FRAME.settings, 0, { stream: 0, payload: Buffer.alloc(0) }),
  frame(FRAME.windowUpdate, 0, { stream: 0, payload: uint32(WINDOW_BYTES) }),
]);

const short = (text: string): Buffer => Buffer.from([text.length, ...Buffer.from(text)]);

/** :method POST and :scheme http by their indices, then :path, :authority, content-type and te as text */
const HEADERS = Buffer.concat([
  Buffer.from([0x83, 0x86, 0x04]),
  short("/etcdserverpb.KV/Put"),
  Buffer.from([0x01]),
  short("127.0.0.1"),
  Buffer.from([0x0f, 0x10]),
  short("application/grpc"),
  Buffer.from([0x00]),
  short("te"),
  short("trailers"),
]);

/** A field of bytes in a protocol buffer, of at most 16,383. */
const field = (tag: number, text: string): Buffer => {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([tag, (bytes.length & 0x7f) | 0x80, bytes.length >> 7]), bytes]);
};

/** @returns etcdserverpb.PutRequest in the frame of gRPC */
function message({ key, value }: EtcdPlan["puts"][number]): Buffer {
  const request = Buffer.concat([field(0x0a, key), field(0x12, value)]);
  return Buffer.concat([Buffer.from([0]), uint32(request.length), request]);
}

async function runEtcdLoad({ port, connections, seconds, puts }: EtcdPlan): Promise<EtcdResult> {
  const messages = puts.map(message);
  let sent = 0;
  let stored = 0;
  let errors = 0;

  const send = (socket: Socket): void => {
    const { data } = socket;
    data.stream += 2;
    data.hasMessage = false;
    const payload = messages[sent++ % messages.length] ?? Buffer.alloc(0);
    const head = frame(FRAME.headers, END_HEADERS, { stream: data.stream, payload: HEADERS });
    socket.write(Buffer.concat([head, frame(FRAME.data, END_STREAM, { stream: data.stream, payload })]));
  };

  const read = (socket: Socket, bytes: Buffer): void => {
    const type = bytes.readUInt8(3);
    const flags = bytes.readUInt8(4);
    const isAnswer = type === FRAME.settings || type === FRAME.ping;
    if (isAnswer && (flags & ACK) === 0) {
      const payload = type === FRAME.ping ? bytes.subarray(HEAD_BYTES) : Buffer.alloc(0);
      socket.write(frame(type, ACK, { stream: 0, payload }));
    }
    if (type === FRAME.data) socket.data.hasMessage = true;
    if (type !== FRAME.headers || (flags & END_STREAM) === 0) return;
    if (socket.data.hasMessage) stored += 1;
    else errors += 1;
    send(socket);
  };

  const receive = (socket: Socket, bytes: Buffer): void => {
    let rest = Buffer.concat([socket.data.received, bytes]);
    while (rest.length >= HEAD_BYTES && rest.length >= HEAD_BYTES + rest.readUIntBE(0, 3)) {
      const end = HEAD_BYTES + rest.readUIntBE(0, 3);
      read(socket, rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    socket.data.received = rest;
  };

  const begin = performance.now();
  for (let opened = 0; opened < connections; opened++) {
    await Bun.connect<Connection>({
      hostname: "127.0.0.1",
      port,
      data: { stream: -1, hasMessage: false, received: Buffer.alloc(0) },
      socket: {
        open(socket) {
          socket.write(GREETING);
          send(socket);
        },
        data: receive,
        close: () => {
          errors += 1;
        },
      },
    });
  }
  await Bun.sleep(seconds * 1_000);
  return { perSecond: Math.round((stored * 1_000) / (performance.now() - begin)), errors };
}

if (import.meta.main) {
  console.log(JSON.stringify(await runEtcdLoad(await Bun.stdin.json())));
  process.exit(0);
}
