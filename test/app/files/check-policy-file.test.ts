// The check of `doctor` on the policy in the configuration file: whether it is in force, and if not, why.
import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkOf } from "../../../src/app/doctor/finding.ts";
import { runTaskHere } from "../../../src/app/documents/document-threads.ts";
import { checkPolicyFile } from "../../../src/app/files/check-policy-file.ts";
import { sectionOf as sectionIn } from "../../../src/app/files/governance-file.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { createGovernanceWorld, packageOf, sectionOf } from "../../domain/governance/governance-world.ts";
import { temporaryDirectory } from "../../support/world.ts";

test("CON-45 a file that is valid only without the published policy is reported until both agree", async () => {
  await using world = await createGovernanceWorld();
  const { domain, governance, admin, inForce, world: server } = world;
  const { organizationId, system } = server;
  const folder = temporaryDirectory();
  const file = join(folder, "own config.yaml");
  const written = (section: object | undefined) => {
    writeFileSync(file, JSON.stringify(section ? { governance: section } : {}));
    return loadConfig({ flags: { config: file }, env: {}, cwd: folder });
  };
  const found = (config: ReturnType<typeof written>) =>
    checkPolicyFile(checkOf("policy_file"), { domain, config, organizationId });
  const restart = (config: ReturnType<typeof written>) =>
    governance.deployments.apply(system, sectionIn({ config, file: config.content, runTask: runTaskHere }));
  expect((await found(written(undefined))).result).toBe("ok");
  const first = written(sectionOf({ packages: [packageOf("one")] }));
  expect(await found(first)).toMatchObject({ result: "warning", remedy: expect.stringContaining("restart") });
  await restart(first);
  expect(await found(first)).toMatchObject({
    result: "ok",
    detail: "it has no unpublished changes or conflicts",
  });
  await governance.publishing.publishExtensions(admin, { baseRevision: inForce().id, packages: [] });
  const off = { codex: { package_overrides: { one: { enabled: false } } } };
  const second = written(sectionOf({ packages: [packageOf("one")], harnesses: off }));
  expect(await restart(second)).toMatchObject({ outcome: "kept" });
  expect(await found(second)).toMatchObject({
    result: "failed",
    detail: expect.stringContaining("/harnesses/codex/package_overrides/one"),
  });
  const third = written(sectionOf({ packages: [packageOf("one", { version: "2" })] }));
  await restart(third);
  const kept = await found(third);
  expect(kept).toMatchObject({
    result: "ok",
    detail: expect.stringContaining(`policy conflicts list --config '${file}'`),
  });
  expect(await found(written({ requird: true }))).toMatchObject({
    result: "failed",
    detail: expect.stringContaining("/governance/requird"),
    remedy: `to see each line: quartermaster config check --config '${file}'`,
  });
  rmSync(folder, { recursive: true });
});
