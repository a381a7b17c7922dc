// The service's origin, which the settings give to the API and to the pages.
import { expect, test } from "bun:test";
import { configuredOrigin, isUnencryptedRemote } from "../../../src/app/installation/origin.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";

const originWith = (flags: Record<string, string>): string | undefined =>
  configuredOrigin(loadConfig({ flags, env: {}, cwd: "/" }));

test.each([
  [{}, "http://127.0.0.1:8080"],
  [{ serverListen: "localhost:9000" }, "http://localhost:9000"],
  [{ serverListen: "[::1]:9000" }, "http://[::1]:9000"],
  [{ serverListen: "127.0.0.1:80" }, "http://127.0.0.1"],
  [{ serverListen: "127.0.0.1:443", serverTlsCert: "/c", serverTlsKey: "/k" }, "https://127.0.0.1"],
  [{ serverListen: "0.0.0.0:80", serverPublicUrl: "https://qm.example.org/" }, "https://qm.example.org"],
  [{ serverListen: "unix:/q.sock", serverPublicUrl: "https://qm.example.org" }, "https://qm.example.org"],
  [{ serverListen: "127.0.0.1:0" }, undefined],
  [{ serverListen: "0.0.0.0:8080" }, undefined],
  [{ serverListen: "unix:/q.sock" }, undefined],
])("%j results in %s", (flags, origin) => {
  expect(originWith(flags)).toBe(origin);
});

test.each([
  ["http://qm.example.org", true],
  ["http://192.0.2.1:8080", true],
  ["https://qm.example.org", false],
  ["http://127.0.0.1:8080", false],
  ["http://[::1]:8080", false],
  ["http://localhost", false],
  ["unix:/q.sock", false],
])("%s sends unencrypted traffic to other machines: %p", (origin, expected) => {
  expect(isUnencryptedRemote(origin)).toBe(expected);
});
