// By which address a request is counted, depending on its peer and its forwarding headers.
import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import type { AddressRange, ForwardedHeader } from "../../../src/platform/config/addresses.ts";
import { listen } from "../../../src/server/listener/listen.ts";
import { createPeerAddresses, trustedPeerCheck } from "../../../src/server/listener/peer-address.ts";
import { NO_PROXIES, raise } from "../../support/network/listening-server.ts";

const range = (address: string, prefix: number) =>
  ({ address, prefix, family: address.includes(":") ? "ipv6" : "ipv4" }) as const;
const trustedProxies = [range("127.0.0.1", 32), range("10.0.0.0", 8), range("fd00::", 8)];
const PROXY = "127.0.0.1";

const addressFrom = (forwardedHeader: ForwardedHeader, value: string, peer: string | null = PROXY) =>
  createPeerAddresses({ trustedProxies, forwardedHeader }).addressOf(
    new Headers({ [forwardedHeader]: value }),
    peer,
  );

const X_FORWARDED_FOR: [string, string][] = [
  ["203.0.113.7", "203.0.113.7"],
  ["203.0.113.7:4711", "203.0.113.7"],
  ["2001:db8::1", "2001:db8::1"],
  ["[2001:db8::1]", "2001:db8::1"],
  ["[2001:db8::1]:443", "2001:db8::1"],
  ["2001:DB8:0::1", "2001:db8::1"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["[::ffff:cb00:7107]:80", "203.0.113.7"],
  // the caller wrote the first entry, proxies the others
  ["198.51.100.1, 203.0.113.7:4711", "203.0.113.7"],
  ["198.51.100.1, [2001:db8::1]:443", "2001:db8::1"],
  ["198.51.100.1, 203.0.113.7, 10.1.2.3", "203.0.113.7"],
  ["198.51.100.1, 203.0.113.7:1, 10.1.2.3:5555, [fd00::1]:80", "203.0.113.7"],
  ["203.0.113.7, ::ffff:10.1.2.3", "203.0.113.7"],
  ["198.51.100.1,203.0.113.7 , ,", "203.0.113.7"],
  // an entry that cannot be parsed: the proxy that wrote it is counted
  ["198.51.100.1, unknown", PROXY],
  ["198.51.100.1, unknown, 10.1.2.3", "10.1.2.3"],
  ["198.51.100.1, _hidden", PROXY],
  ["198.51.100.1, 203.0.113.7:port", PROXY],
  ["198.51.100.1, 203.0.113.7:123456", PROXY],
  ["198.51.100.1, [203.0.113.7", PROXY],
  ["198.51.100.1, 203.0.113.7.9", PROXY],
  ["198.51.100.1, 203.0.113", PROXY],
  ["198.51.100.1, 0x7f.1", PROXY],
  ["198.51.100.1, example.org:80", PROXY],
  ["198.51.100.1, <script>", PROXY],
  // nobody outside the trusted networks
  ["10.1.2.3", "10.1.2.3"],
  ["", PROXY],
];

test.each(X_FORWARDED_FOR)("X-Forwarded-For: %s counts as %s", (value, address) => {
  expect(addressFrom("x-forwarded-for", value)).toBe(address);
});

const FORWARDED: [string, string][] = [
  ["for=203.0.113.7", "203.0.113.7"],
  ["For=203.0.113.7;proto=https;by=10.0.0.1", "203.0.113.7"],
  ['proto=https; for="203.0.113.7:4711"', "203.0.113.7"],
  ['for="[2001:db8:cafe::17]:4711"', "2001:db8:cafe::17"],
  ['for="[2001:db8:cafe::17]:_port"', "2001:db8:cafe::17"],
  ["for=203.0.113.7:4711", "203.0.113.7"],
  ['for=198.51.100.1, for=203.0.113.7;by="a,b"', "203.0.113.7"],
  ['for=198.51.100.1, for="203.0.113.7";by="a,b;for=1.1.1.1"', "203.0.113.7"],
  ["for=198.51.100.1, for=203.0.113.7, for=10.1.2.3", "203.0.113.7"],
  // an unclosed quote of the caller does not affect the entry of the proxy
  ['for="198.51.100.1, for=203.0.113.7', "203.0.113.7"],
  ['for="x\\", for=203.0.113.7', "203.0.113.7"],
  ["for=198.51.100.1, for=unknown", PROXY],
  ["for=198.51.100.1, for=_hidden", PROXY],
  ["for=198.51.100.1, by=203.0.113.7", PROXY],
  ["for=198.51.100.1, for=203.0.113.7;for=203.0.113.8", PROXY],
  ["for=198.51.100.1, for=", PROXY],
  ["for=198.51.100.1, 203.0.113.7", PROXY],
  ['for=198.51.100.1, for="203.0.113.7', PROXY],
  ["", PROXY],
];

test.each(FORWARDED)("Forwarded: %s counts as %s", (value, address) => {
  expect(addressFrom("forwarded", value)).toBe(address);
});

describe("a forwarding header is trusted", () => {
  test("trusts no peer when no proxy is trusted", () => {
    const { addressOf } = createPeerAddresses(NO_PROXIES);
    const headers = new Headers({ "x-forwarded-for": "203.0.113.7" });
    expect(addressOf(headers, PROXY)).toBe(PROXY);
    expect(addressOf(headers, "::ffff:127.0.0.1")).toBe(PROXY);
    expect(addressOf(headers, null)).toBeNull();
  });

  test("trusts only a trusted peer, including its IPv4-mapped form", () => {
    expect(addressFrom("x-forwarded-for", "203.0.113.7", "192.0.2.1")).toBe("192.0.2.1");
    expect(addressFrom("x-forwarded-for", "203.0.113.7", "::ffff:10.0.0.9")).toBe("203.0.113.7");
  });

  test("trusts each peer by its own entry, whichever asked before", () => {
    const { addressOf } = createPeerAddresses({ trustedProxies, forwardedHeader: "x-forwarded-for" });
    const headers = new Headers({ "x-forwarded-for": "203.0.113.7" });
    const peers = [PROXY, PROXY, "192.0.2.1", "192.0.2.1", null, "192.0.2.1", PROXY];
    expect(peers.map((peer) => addressOf(headers, peer))).toEqual([
      ...["203.0.113.7", "203.0.113.7", "192.0.2.1", "192.0.2.1"],
      ...["203.0.113.7", "192.0.2.1", "203.0.113.7"],
    ]);
  });

  test("trusts a peer on a Unix socket if any proxy is trusted", () => {
    const one = { trustedProxies: [range("10.0.0.0", 8)], forwardedHeader: "x-forwarded-for" } as const;
    const headers = new Headers({ "x-forwarded-for": "203.0.113.7" });
    expect(createPeerAddresses(one).addressOf(headers, null)).toBe("203.0.113.7");
    expect(addressFrom("x-forwarded-for", "203.0.113.7:80", null)).toBe("203.0.113.7");
    expect(addressFrom("x-forwarded-for", "unknown", null)).toBeNull();
  });

  test("trusts a header only if the setting names it", () => {
    const headers = new Headers({ forwarded: "for=198.51.100.1", "x-forwarded-for": "203.0.113.7" });
    const addressBy = (forwardedHeader: ForwardedHeader) =>
      createPeerAddresses({ trustedProxies, forwardedHeader }).addressOf(headers, PROXY);
    expect([addressBy("x-forwarded-for"), addressBy("forwarded")]).toEqual(["203.0.113.7", "198.51.100.1"]);
  });
});

test.each([PROXY, "::ffff:127.0.0.1", "fd00::1"])(
  "the trusted peer %s is used as the address when it forwards none",
  (peer) => {
    const addresses = createPeerAddresses({ trustedProxies, forwardedHeader: "x-forwarded-for" });
    expect(addresses.addressOf(new Headers(), peer)).toBe(peer.replace("::ffff:", ""));
  },
);

describe("an untrusted peer that forwards", () => {
  const untrusted = (headers: Record<string, string>, peer: string | null, proxies = trustedProxies) =>
    createPeerAddresses({ trustedProxies: proxies, forwardedHeader: "forwarded" }).untrusted(
      new Headers(headers),
      () => peer,
    );
  const sent = "203.0.113.7";

  test.each<[ForwardedHeader, string, string]>([
    ["x-forwarded-for", "192.0.2.1", "192.0.2.1"],
    ["forwarded", "::ffff:192.0.2.1", "192.0.2.1"],
    ["forwarded", "2001:db8::1", "2001:db8::1"],
  ])("is reported with its header: %s of %s", (header, peer, plain) => {
    expect(untrusted({ [header]: sent }, peer)).toEqual({ peer: plain, header });
  });

  test("is reported on a Unix socket only when no proxy is trusted", () => {
    expect(untrusted({ forwarded: sent }, null)).toBeUndefined();
    expect(untrusted({ forwarded: sent }, null, [])).toEqual({ peer: null, header: "forwarded" });
  });

  test("is not reported without a header or when the peer is trusted", () => {
    expect(untrusted({}, "192.0.2.1")).toBeUndefined();
    for (const peer of [PROXY, "::ffff:10.1.2.3", "fd00::1"])
      expect(untrusted({ "x-forwarded-for": sent }, peer)).toBeUndefined();
  });
});

test("a long header of quotes and commas is parsed in linear time: quadratic time would be hours", () => {
  for (const piece of ['","', ',"', '\\"', "for=10.0.0.1,", "10.0.0.1,"])
    for (const header of ["forwarded", "x-forwarded-for"] as const) {
      expect(addressFrom(header, piece.repeat(4_000_000 / piece.length))).toBeString();
    }
});

test("multiple lines of one header are read as one list on a real socket", async () => {
  const handle: Parameters<typeof listen>[0] = (request, addressOf) =>
    new Response(`<${addressOf?.(request)}>`);
  const place = { kind: "tcp", host: "127.0.0.1", port: 0 } as const;
  const trust = { trustedProxies, forwardedHeader: "x-forwarded-for", report: raise } as const;
  const listener = listen(handle, { ...trust, listen: place });
  const { hostname, port } = new URL(listener.address);
  const response = await new Promise<string>((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let text = "";
    socket.on("data", (bytes) => (text += bytes)).on("close", () => resolve(text));
    const lines = "X-Forwarded-For: 198.51.100.1\r\nX-Forwarded-For: 203.0.113.7:4711\r\nConnection: close";
    socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n\r\n`);
  });
  expect(response).toEndWith("<203.0.113.7>");
  await listener.stop();
});

test.each<[string, AddressRange[], boolean]>([
  ["10.255.255.255", [range("10.0.0.0", 8)], true],
  ["11.0.0.0", [range("10.0.0.0", 8)], false],
  ["9.255.255.255", [range("10.0.0.0", 8)], false],
  ["192.0.2.129", [range("192.0.2.130", 31)], false],
  ["192.0.2.131", [range("192.0.2.130", 31)], true],
  ["192.0.2.1", [range("192.0.2.1", 32)], true],
  ["192.0.2.2", [range("192.0.2.1", 32)], false],
  ["255.255.255.255", [range("0.0.0.0", 0)], true],
  ["200.1.2.9", [range("10.0.0.0", 8), range("200.1.2.0", 24)], true],
  ["fd00::1", [range("0.0.0.0", 0)], false],
  ["fd00::1", [range("10.0.0.0", 8), range("fd00::", 8)], true],
  ["10.0.0.1", [range("fd00::", 8), range("10.0.0.0", 8)], true],
  ["10.0.0.1", [range("::ffff:10.0.0.0", 104)], true],
  ["11.0.0.1", [range("::ffff:10.0.0.0", 104)], false],
])("the peer %s is in %j: %p", (peer, ranges, isTrusted) => {
  expect(trustedPeerCheck(ranges)(peer)).toBe(isTrusted);
});
