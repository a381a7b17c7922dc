// Which proxy the environment names for an address, as the runtime reads it for its own requests.
import { expect, test } from "bun:test";
import { proxyFor } from "../../../src/platform/outbound/proxy.ts";

const PROXY = "http://us%40er:p%3Aw@proxy.example:3128";

test.each([
  ["", "x.example", true],
  ["x.example", "x.example", false],
  [".example", "x.example", false],
  ["ample", "x.example", true],
  ["*.example", "x.example", false],
  ["X.EXAMPLE", "x.example", false],
  ["x.example:443", "x.example", false],
  ["x.example:444", "x.example", true],
  ["*", "x.example", false],
  ["10.0.0.0/8", "10.1.2.3", false],
  ["10.0.0.0/8", "11.1.2.3", true],
  ["fd00::/8", "[fd00::1]", false],
  ["a, x.example ", "x.example", false],
])("NO_PROXY=%p decides about %s: proxy %p", (NO_PROXY, host, isUsed) => {
  const found = proxyFor(new URL(`https://${host}/`), { HTTPS_PROXY: PROXY, NO_PROXY });
  expect(found).toEqual(isUsed ? { variable: "HTTPS_PROXY", url: PROXY } : undefined);
});

test("lower-case variables take precedence, and ALL_PROXY applies to every scheme", () => {
  const url = new URL("https://x.example/");
  expect(proxyFor(url, { HTTPS_PROXY: "http://a", https_proxy: "http://b" })?.url).toBe("http://b");
  expect(proxyFor(url, { ALL_PROXY: "http://c" })?.url).toBe("http://c");
  expect(proxyFor(url, { HTTP_PROXY: "http://d" })).toBeUndefined();
  expect(proxyFor(url, { HTTPS_PROXY: "http://a", no_proxy: "x.example", NO_PROXY: "y" })).toBeUndefined();
});
