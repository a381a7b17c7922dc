// The socket: which requests may end during a stop, and that hostile HTTP is answered and survived.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { generate } from "selfsigned";
import { INSPECTION_TIMEOUT_MS } from "../../../src/domain/catalog/sources/package-sources.ts";
import {
  HEADER_BYTES_MAX,
  IDLE_TIMEOUT_SECONDS,
  type Listener,
  listen,
} from "../../../src/server/listener/listen.ts";
import { TLS_FILE_BYTES_MAX } from "../../../src/server/listener/tls.ts";
import type { Server } from "../../../src/server/server.ts";
import { NO_PROXIES } from "../../support/network/listening-server.ts";
import { temporaryDirectory } from "../../support/world.ts";

const LOOPBACK = { kind: "tcp", host: "127.0.0.1", port: 0 } as const;

const report = (error: unknown) => expect(error).toBeUndefined();

/** Responds with the caller's address. */
const echoAddress: Server["handle"] = (request, addressOf) => new Response(String(addressOf?.(request)));

describe("a request head", () => {
  /** @returns the status line of the response to a request whose first line and headers have this many bytes */
  async function statusFor(port: number, bytes: number): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const begin = "GET /?q=";
    const end = " HTTP/1.1\r\nhost: localhost\r\n\r\n";
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(begin + "a".repeat(bytes - begin.length - end.length) + end);
    });
    socket.once("data", (chunk) => resolve(chunk.toString().split("\r\n", 1)[0] ?? ""));
    return await promise.finally(() => socket.destroy());
  }

  test.each([
    [HEADER_BYTES_MAX - 1, "HTTP/1.1 200 OK"],
    [HEADER_BYTES_MAX, "HTTP/1.1 200 OK"],
    [HEADER_BYTES_MAX + 1, "HTTP/1.1 431 Request Header Fields Too Large"],
  ])("answers a head of %p bytes with %s", async (bytes, status) => {
    const listener = listen(echoAddress, { listen: LOOPBACK, ...NO_PROXIES, report });
    const outcome = await statusFor(Number(new URL(listener.address).port), bytes);
    await listener.stop();
    expect(outcome).toBe(status);
  });
});

test("the idle timeout exceeds the slowest response and the check of a fetched package", () => {
  expect(IDLE_TIMEOUT_SECONDS * 1_000).toBeGreaterThanOrEqual(INSPECTION_TIMEOUT_MS + 30_000);
});

describe("stopping", () => {
  test("accepts no new request and lets the running one finish", async () => {
    const entered = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const listener = listen(
      async () => {
        entered.resolve();
        await goOn.promise;
        return new Response("done");
      },
      { listen: LOOPBACK, ...NO_PROXIES, report },
    );
    const running = fetch(listener.address);
    await entered.promise;
    const stopped = listener.stop();
    await expect(fetch(listener.address, { keepalive: false })).rejects.toThrow();
    goOn.resolve();
    expect(await (await running).text()).toBe("done");
    await stopped;
    await listener.stop(); // a second time: nothing happens
  });
});

describe("the listener's own TLS", () => {
  const directory = temporaryDirectory();
  const files = { cert: join(directory, "cert.pem"), key: join(directory, "key.pem") };
  const pairs: { cert: string; private: string }[] = [];
  const write = ({ cert, private: key }: { cert: string; private: string }) => {
    rmSync(files.key, { force: true }); // a mode other than the original one is kept
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key, { mode: 0o600 });
  };
  const pairOf = (index: number) => pairs[index] ?? { cert: "", private: "" };
  beforeAll(async () => {
    for (const value of ["first", "second"])
      pairs.push(await generate([{ name: "commonName", value }], { keyType: "ec" }));
  });
  beforeEach(() => write(pairOf(0)));
  afterAll(() => rmSync(directory, { recursive: true }));

  const start = (handle: Server["handle"] = () => new Response("fine")) =>
    listen(handle, { listen: LOOPBACK, tls: files, ...NO_PROXIES, report });

  const tls = { rejectUnauthorized: false };

  const presentedBy = (listener: Listener): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const { hostname: host, port } = new URL(listener.address);
      const socket = connectTls({ host, port: Number(port), ...tls }, () => {
        resolve(socket.getPeerCertificate().subject.CN);
        socket.end();
      });
      socket.on("error", reject);
    });

  /** A listener whose certificate files changed while it handles a request. */
  async function renewedDuringRequest() {
    const entered = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const listener = start(async () => {
      entered.resolve();
      await goOn.promise;
      return new Response("done");
    });
    const running = fetch(listener.address, { tls });
    await entered.promise;
    write(pairOf(1));
    return { listener, running, goOn };
  }

  test("gives new connections a renewed certificate while requests under the old one finish", async () => {
    const { listener, running, goOn } = await renewedDuringRequest();
    expect(listener.renew(files)?.expiresAtMs).toBeGreaterThan(Date.now());
    expect(await presentedBy(listener)).toBe("second");
    goOn.resolve();
    expect(await (await running).text()).toBe("done");
    await listener.stop();
  });

  test("waits at a stop for requests on connections of every former certificate", async () => {
    const { listener, running, goOn } = await renewedDuringRequest();
    listener.renew(files);
    let isStopped = false;
    const stopped = listener.stop().then(() => {
      isStopped = true;
    });
    await expect(fetch(listener.address, { tls, keepalive: false })).rejects.toThrow();
    expect(isStopped).toBe(false);
    goOn.resolve();
    expect(await (await running).text()).toBe("done");
    await stopped;
  });

  test("does nothing if the files are unchanged", async () => {
    const listener = start();
    expect(listener.renew(files)).toBeUndefined();
    await listener.stop();
  });

  const broken: [string, RegExp, () => void][] = [
    [
      "files of two pairs",
      /does not belong to the certificate/,
      () => writeFileSync(files.key, pairOf(1).private),
    ],
    [
      "a certificate cut short",
      /does not contain a PEM certificate/,
      () => writeFileSync(files.cert, pairOf(1).cert.slice(0, 99)),
    ],
    [
      "a key cut short",
      /does not contain a PEM private key/,
      () => writeFileSync(files.key, pairOf(1).private.slice(0, 60)),
    ],
    ["a missing key", /cannot be read: \S+key\.pem does not exist/, () => rmSync(files.key)],
    ["a key that everyone can read", /everyone on this machine can read/, () => chmodSync(files.key, 0o644)],
  ];
  test.each(broken)("keeps the current certificate at %s", async (_, message, spoil) => {
    const listener = start();
    spoil();
    expect(() => listener.renew(files)).toThrow(message);
    expect(() => start()).toThrow(message);
    expect(await presentedBy(listener)).toBe("first");
    await listener.stop();
  });

  test.each([
    [-1, true],
    [0, true],
    [1, false],
  ])("accepts a certificate file %d bytes from the limit: %p", async (bytes, isTaken) => {
    const { cert } = pairOf(0);
    writeFileSync(files.cert, cert.padEnd(TLS_FILE_BYTES_MAX + bytes, "\n"));
    if (!isTaken) return expect(start).toThrow("is larger than");
    await start().stop();
  });

  test("refuses a port that another program uses, even one that shares its port", async () => {
    const listener = start();
    const { hostname: host, port } = new URL(listener.address);
    const again = {
      listen: { kind: "tcp", host, port: Number(port) },
      tls: files,
      ...NO_PROXIES,
      report,
    } as const;
    expect(() => listen(echoAddress, again)).toThrow("is in use by another program");
    await listener.stop();
  });

  test("can only be turned on by a restart", async () => {
    const listener = listen(echoAddress, { listen: LOOPBACK, ...NO_PROXIES, report });
    expect(() => listener.renew(files)).toThrow("a restart is required");
    await listener.stop();
  });
});

describe("hostile HTTP", () => {
  let listener: Listener;
  beforeAll(() => {
    listener = listen(() => new Response("fine"), { listen: LOOPBACK, ...NO_PROXIES, report });
  });
  afterAll(() => listener.stop());

  /** @returns what comes back on a raw connection until the server closes it */
  const raw = (bytes: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(listener.address).port), "127.0.0.1", () => socket.write(bytes));
      let received = "";
      socket.on("data", (chunk) => {
        received += chunk;
        if (received.includes("fine")) socket.end();
      });
      socket.on("close", () => resolve(received));
      socket.on("error", reject);
    });

  const cases: [string, string][] = [
    ["no HTTP at all", "\0\x01\x02 nonsense\r\n\r\n"],
    ["a header without a colon", "GET / HTTP/1.1\r\nHost: localhost\r\nbroken\r\n\r\n"],
    [
      "two lengths that differ",
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
    ],
    [
      "a length beside chunks",
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a negative length", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n"],
    ["100 KB of headers", `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"a".repeat(100_000)}\r\n\r\n`],
  ];
  for (const [name, bytes] of cases) {
    test(`is refused, and the next caller is served: ${name}`, async () => {
      expect(await raw(bytes)).not.toContain("fine");
      expect(await (await fetch(listener.address)).text()).toBe("fine");
    });
  }
});
