import { describe, expect, test } from "bun:test";
import { DomainError } from "../../../src/platform/errors.ts";
import { isPublicAddress, publicUrl } from "../../../src/platform/outbound/public-hosts.ts";

/** First and last address of each range that is refused, and their neighbors outside of it. */
const REFUSED: readonly (readonly [first: string, last: string, ...around: string[]])[] = [
  ["0.0.0.0", "0.255.255.255", "1.0.0.0"],
  ["10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
  ["172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["192.0.0.0", "192.0.0.8", "191.255.255.255", "192.0.0.9"],
  ["192.0.0.11", "192.0.0.255", "192.0.0.10", "192.0.1.0"],
  ["192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
  ["192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
  ["192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
  ["203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ["224.0.0.0", "255.255.255.255", "223.255.255.255"],
  ["::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"],
  ["2001::", "2001:1::", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:1::1"],
  ["2001:1::4", "2001:2:ffff:ffff:ffff:ffff:ffff:ffff", "2001:1::3", "2001:3::"],
  ["2001:4::", "2001:4:111:ffff:ffff:ffff:ffff:ffff", "2001:3:ffff:ffff:ffff:ffff:ffff:ffff", "2001:4:112::"],
  [
    "2001:4:113::",
    "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:4:112:ffff:ffff:ffff:ffff:ffff",
    "2001:20::",
  ],
  [
    "2001:40::",
    "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:3f:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:200::",
  ],
  [
    "2001:db8::",
    "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db9::",
  ],
  ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"],
  [
    "3fff::",
    "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
    "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "3fff:1000::",
  ],
  ["4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
];

describe.each(REFUSED)("%s to %s", (first, last, ...around) => {
  test("is not public, and its neighbors are", () => {
    expect([first, last, ...around].filter(isPublicAddress)).toEqual(around);
  });
});

test.each([
  ["::ffff:127.0.0.1", false],
  ["::ffff:a00:1", false],
  ["::ffff:8.8.8.8", true],
  ["::8.8.8.8", false],
  ["64:ff9b::8.8.8.8", false],
  ["::1", false],
  ["fe80::1%eth0", false],
  ["fc00::1", false],
  ["8.8.8.8", true],
  ["2606:4700::1111", true],
  ["localhost", false],
  ["", false],
])("%p is classified correctly", (address, isPublic) => {
  expect(isPublicAddress(address)).toBe(isPublic);
});

describe("a public URL", () => {
  const detailOf = (text: string): string => {
    try {
      return publicUrl(text).href;
    } catch (error) {
      if (!(error instanceof DomainError) || error.reason !== "outbound.bad_url") throw error;
      return error.message;
    }
  };

  test.each([
    ["https://packages.example/a.tar.gz?x=1", "https://packages.example/a.tar.gz?x=1"],
    ["HTTPS://Packages.Example:8443/a b", "https://packages.example:8443/a%20b"],
    ["https://localhost.example.com/", "https://localhost.example.com/"],
  ])("is parsed: %p", (text, href) => {
    expect(detailOf(text)).toBe(href);
  });

  test.each([
    ["http://packages.example/", "begin with https://"],
    ["file:///etc/passwd", "begin with https://"],
    ["/a.tar.gz", "be a whole https URL"],
    ["https://", "be a whole https URL"],
    ["https://user@packages.example/", "hold no user name and no password"],
    ["https://:secret@packages.example/", "hold no user name and no password"],
    ["https://packages.example/#part", "have no fragment"],
    ["https://packages.example/#", "have no fragment"],
    ["https://localhost/", "name a public host"],
    ["https://LOCALHOST./", "name a public host"],
    ["https://a.localhost/", "name a public host"],
    ["https://printer.local/", "name a public host"],
    ["https://printer.local./", "name a public host"],
  ])("is not %p", (text, wrong) => {
    expect(detailOf(text)).toBe(`the address must ${wrong}`);
  });

  test("is refused with all its problems, and none of it is repeated", () => {
    expect(detailOf("http://me:secret@localhost/#x")).toBe(
      "the address must begin with https://, hold no user name and no password, have no fragment, name a public host",
    );
  });
});
