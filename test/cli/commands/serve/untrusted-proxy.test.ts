// A proxy that is missing in server.trusted_proxies: the service logs it once; `doctor` and `status` report it until it is added.
import { afterAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { UNTRUSTED_PROXY_REPORTED_MS } from "../../../../src/domain/system/untrusted-proxies.ts";
import { trustedPeerCheck } from "../../../../src/server/listener/peer-address.ts";
import { runHere } from "../../../support/in-process.ts";
import { prepareInstallation } from "../../../support/installed/prepared-installation.ts";
import { startService } from "../../../support/running-service.ts";
import { createTestServer } from "../../../support/server.ts";
import { temporaryDirectory } from "../../../support/world.ts";

/** The refusal of a caller is recorded with the caller's address, so the service looks for it. */
const REFUSED = "/admin/users";

const directory = temporaryDirectory();
afterAll(() => rmSync(directory, { recursive: true }));

test("is logged once, and reported by doctor and status across restarts, until it is configured", async () => {
  const data = join(directory, "tcp");
  await prepareInstallation(data);
  const run = (...args: string[]) => runHere([...args, "--data-dir", data], { cwd: directory });
  {
    await using service = await startService({ args: ["--data-dir", data] });
    await fetch(`${service.baseUrl}/health`);
    expect(service.stderr()).not.toContain("proxy.untrusted");
    const headers = { "x-forwarded-for": "203.0.113.7" };
    for (let time = 0; time < 2; time += 1) await fetch(`${service.baseUrl}${REFUSED}`, { headers });
    await service.logged("server.trusted_proxies");
    service.signal("SIGTERM");
    expect(await service.ended()).toBe(0);
    expect(service.stderr().match(/proxy\.untrusted/g)).toHaveLength(1);
  }
  const told = "127.0.0.1 sent the header x-forwarded-for, but is not a trusted proxy";
  const remedy = "add 127.0.0.1 to server.trusted_proxies";
  for (const command of ["doctor", "status"]) {
    const { stdout } = await run(command);
    expect(stdout).toContain(told);
    expect(stdout).toContain(remedy);
  }
  const { stdout } = await run("status", "--json");
  expect(JSON.parse(stdout).untrusted_proxy).toMatchObject({
    peer: "127.0.0.1",
    header: "x-forwarded-for",
    setting: "server.trusted_proxies",
  });
  {
    const args = ["--data-dir", data, "--server-trusted-proxies", "127.0.0.1"];
    await using service = await startService({ args });
    await fetch(`${service.baseUrl}${REFUSED}`, { headers: { "x-forwarded-for": "203.0.113.7" } });
    expect((await run("status")).stdout).not.toContain("trusted_proxies");
    expect((await run("doctor")).stdout).not.toContain("trusted_proxies");
    service.signal("SIGTERM"); // all lines of the log are written
    expect(await service.ended()).toBe(0);
    expect(service.stderr()).not.toContain("proxy.untrusted");
  }
});

test("is reported behind a Unix socket", async () => {
  const [data, socket] = [join(directory, "unix"), join(directory, "qm.sock")];
  await prepareInstallation(data);
  const where = ["--server-listen", `unix:${socket}`, "--server-public-url", "https://qm.example.org"];
  await using service = await startService({ args: ["--data-dir", data, ...where] });
  await fetch(`http://qm${REFUSED}`, { unix: socket, headers: { forwarded: "for=203.0.113.7" } });
  await service.logged("a peer on the Unix socket sent the header forwarded");
});

describe("the record of an untrusted proxy", () => {
  const nobody = trustedPeerCheck([]);

  test("is reported for UNTRUSTED_PROXY_REPORTED_MS after it was last seen", async () => {
    await using server = await createTestServer();
    const { untrustedProxies } = server.domain;
    await untrustedProxies.note({ peer: "10.0.0.1", header: "forwarded" });
    await untrustedProxies.note({ peer: "10.0.0.2", header: "forwarded" });
    server.world.clock.advance(UNTRUSTED_PROXY_REPORTED_MS - 1);
    expect(untrustedProxies.find(nobody)?.peer).toBe("10.0.0.2");
    server.world.clock.advance(1);
    expect(untrustedProxies.find(nobody)).toBeUndefined();
  });

  test("is not reported if the settings trust the peer, and a service with such settings deletes it", async () => {
    await using server = await createTestServer();
    const { untrustedProxies } = server.domain;
    await untrustedProxies.note({ peer: "10.0.0.1", header: "forwarded" });
    const trusted = trustedPeerCheck([{ address: "10.0.0.0", prefix: 8, family: "ipv4" }]);
    expect(untrustedProxies.find(trusted)).toBeUndefined();
    await untrustedProxies.forgetTrusted(nobody);
    expect(untrustedProxies.find(nobody)).toBeDefined();
    await untrustedProxies.forgetTrusted(trusted);
    expect(untrustedProxies.find(nobody)).toBeUndefined();
  });
});
