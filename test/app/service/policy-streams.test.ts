// Open event streams of a service that stops: the stop ends them first and does not wait for their callers to leave.
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { startService } from "../../../src/app/service/service.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { CHEAP } from "../../support/in-process.ts";
import { temporaryDirectory } from "../../support/world.ts";

const ACCOUNT = { email: "root@example.org", password: "correct horse battery" };

test("a stop ends every stream immediately", async () => {
  const dataDir = temporaryDirectory();
  const flags = { dataDir, serverListen: "127.0.0.1:0", bootstrapAdminEmail: ACCOUNT.email };
  const env = { QUARTERMASTER_BOOTSTRAP_ADMIN_PASSWORD: ACCOUNT.password };
  const service = await startService({
    config: loadConfig({ flags, env, cwd: dataDir }),
    clock: systemClock,
    ids: systemIds,
    log: createLog({ level: "error", format: "json", write: () => {}, clock: systemClock }),
    passwordCost: CHEAP.passwordCost,
    onBootstrap: () => {},
  });
  try {
    const signedIn = await fetch(`${service.baseUrl}/api/auth/sign-in/email`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: service.baseUrl },
      body: JSON.stringify(ACCOUNT),
    });
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const events = await fetch(`${service.baseUrl}/governance-config/events`, { headers: { cookie } });
    expect(events.status).toBe(200);
    const stopped = service.stop();
    expect(await events.text()).toStartWith("event: revision\n"); // the stream ends regularly and is not aborted
    await stopped;
  } finally {
    await service.stop();
    rmSync(dataDir, { recursive: true });
  }
});
