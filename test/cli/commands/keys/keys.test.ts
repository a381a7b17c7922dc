// Commands for gateway keys without a service. golden/keys.txt has their exact output.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Interrupted } from "../../../../cli/exit.ts";
import { createWorkspace } from "../../../support/in-process.ts";
import { createInstalledGateway } from "../../../support/installed/installed-gateway.ts";

const CONFIG = "--config gateway.yaml";

test("an interrupted reconcile exits with 130, and the next one finishes it", async () => {
  await using installed = await createInstalledGateway();
  const { workspace, gateway } = installed;
  gateway.addUser("root@example.org");
  await workspace.json(`keys ensure root@example.org ${CONFIG}`);
  gateway.calls = [];
  const signal = AbortSignal.abort(new Interrupted("SIGINT"));
  expect(await workspace.run(`keys reconcile ${CONFIG}`, { signal })).toMatchObject({
    stdout: "",
    exitCode: 130,
  });
  expect(gateway.calls).toEqual([]);
  expect(await workspace.json(`keys reconcile ${CONFIG}`)).toMatchObject({ keys: 1, failing: [] });
});

test("a dry run and an unanswered question change nothing", async () => {
  await using installed = await createInstalledGateway();
  const { workspace, gateway } = installed;
  gateway.addUser("root@example.org");
  const { key } = await workspace.json(`keys ensure root@example.org ${CONFIG}`);
  gateway.calls = [];
  for (const verb of ["rotate", "revoke"]) {
    await workspace.json(`keys ${verb} root@example.org --dry-run ${CONFIG}`);
    expect((await workspace.run(`keys ${verb} root@example.org ${CONFIG}`, { stdin: "y\n" })).exitCode).toBe(
      2,
    );
  }
  expect(gateway.calls).toEqual([]);
  expect(await workspace.json(`keys show root@example.org ${CONFIG}`)).toMatchObject(Object(key));
});

test.each(["keys change revoke", "users change suspend", "clients revoke"])(
  "%s refuses an empty search, which would select everything",
  async (verb) => {
    await using installed = await createInstalledGateway();
    for (const q of ["--q=", "--q= "]) {
      const { stderr, exitCode } = await installed.workspace.run(
        `${verb} ${q} --yes ${verb[0] === "k" ? CONFIG : ""}`.trim(),
      );
      expect([stderr.split("\n")[0], exitCode]).toEqual([
        "error: --q is empty and would select everything",
        2,
      ]);
    }
  },
);

test("setup works in gateway mode without the address of a proxy", async () => {
  await using installed = await createInstalledGateway();
  using fresh = createWorkspace();
  const file = readFileSync(join(installed.workspace.folder, "gateway.yaml"), "utf8");
  writeFileSync(join(fresh.folder, "gateway.yaml"), file.replace(/^ *inference_proxy_url.*\n/m, ""), {
    mode: 0o600,
  });
  const { exitCode, stderr } = await fresh.run(`setup ${CONFIG}`);
  expect([stderr.includes("unexpected"), exitCode]).toEqual([false, 0]);
});

test("commands never print the key itself", async () => {
  await using installed = await createInstalledGateway();
  const { workspace, gateway } = installed;
  gateway.addUser("root@example.org");
  for (const line of ["ensure root@example.org", "rotate root@example.org --yes", "list --wide", "reconcile"])
    for (const json of ["", " --json"]) {
      const { stdout, stderr } = await workspace.run(`keys ${line} ${CONFIG}${json}`);
      expect(stdout + stderr).not.toMatch(/\bsk-/);
    }
});
