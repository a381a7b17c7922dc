// `policy`: the exact output of each verb (golden/policy.txt), and a running service that applies changes made by commands and by
// its configuration file.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HOUR_MS } from "../../../../src/platform/clock.ts";
import { expectGolden, type Step } from "../../../support/cli/golden.ts";
import { createInstallation, runHere } from "../../../support/in-process.ts";
import { reportOn } from "../../../support/installed/installed-clients.ts";
import { beginPolicyOn, conflictOn, draftOn } from "../../../support/installed/installed-policy.ts";
import { prepareInstallation } from "../../../support/installed/prepared-installation.ts";
import { startService } from "../../../support/running-service.ts";
import { temporaryDirectory } from "../../../support/world.ts";

const POLICY = `revision: any
allowed_harnesses: [codex, claude]
harnesses:
  codex:
    version_requirement: '>=0.145.0'
    managed_config: {model: large, fast_mode: false}
    mcp: [{name: files, command: files-server, args: ['--root', '.']}]
    package_overrides: {guide: {enabled: false}}
packages:
  - {id: guide, version: 1.2.0, source_ref: https://example.com/guide.tar.gz, sha256: DIGEST, adapters: {codex: {}}}
  - {id: tool, version: '2', source_ref: https://example.com/tool.tar.gz, sha256: DIGEST, adapters: {claude: {}}}
`.replaceAll("DIGEST", "a".repeat(64));

const BAD =
  "revision: any\nallowed_harnesses: [codex, vim]\nrequird: true\nharnesses:\n  codex:\n    mcp: [{name: a}]\n";

test("policy", async () => {
  using workspace = await createInstallation();
  const steps: Step[] = [];
  const say = async (...lines: string[]) => {
    for (const line of lines) steps.push({ line, ...(await workspace.run(line)) });
  };
  const write = (name: string, text: string) => writeFileSync(join(workspace.folder, name), text);
  write("policy.yaml", POLICY);
  write("bad.yaml", BAD);
  write("section.yaml", `server: {}\ngovernance:\n  revision: any\n  allowed_harnesses: [codex]\n`);
  write(
    "secret.yaml",
    "revision: any\nharnesses: {codex: {mcp: [{name: a, command: a, env: {K: os.environ/K}}]}}\n",
  );
  await say("policy show", "policy history");
  await beginPolicyOn(workspace);
  workspace.clock.advance(HOUR_MS);
  await say("policy show", "policy show --json", "policy diff", "policy history");
  await say(
    "policy check policy.yaml",
    "policy check bad.yaml",
    "policy check bad.yaml --json",
    "policy check none.yaml",
  );
  await say("policy check secret.yaml");
  await say("policy apply policy.yaml", "policy apply policy.yaml --dry-run");
  await say(
    "policy apply policy.yaml --yes --comment models",
    "policy apply policy.yaml",
    "policy apply policy.yaml --json",
  );
  await say("policy show", "policy diff", "policy diff 1 --json", "policy diff 2 1", "policy diff 7");
  await say("policy apply section.yaml --base 1 --yes", "policy apply section.yaml --base 2 --yes --json");
  await say(
    "policy rollback 2 --dry-run",
    "policy rollback 2 --yes",
    "policy rollback 4 --yes",
    "policy rollback 9 --yes",
    "policy rollback 2 --yes --json",
    "policy check policy.yaml --json",
  );
  const user = "--user root@example.org";
  await say(
    `policy explain ${user} --harness codex --installed 0.150.0`,
    `policy explain ${user} --harness claude --installed 9.0.0`,
    `policy explain ${user} --harness codex --revision r1`,
    `policy explain ${user} --harness codex --revision r99`,
  );
  await say(`policy explain ${user} --harness codex --json`, `policy explain ${user} --harness vim`);
  await say(`policy explain ${user} --harness kimi`, `policy explain ${user} --harness codex --installed 1`);
  await say("policy explain --user nobody@example.org --harness codex");
  await say("policy history", "policy history --wide", "policy history --json");
  const members = {
    hostname: "lab-1",
    harnesses: [{ name: "codex", version: "0.145.0" }],
    error: "no space left",
  };
  await reportOn(workspace, [{ instance_id: "i-1", ...members }]);
  await say("policy rollout", "policy rollout --json", "policy rollout 1", "policy rollout 9");
  write(
    "keyed.yaml",
    "revision: any\nallowed_harnesses: [codex]\nharnesses: {codex: {mcp: [{name: a, command: a, env: {KEY: sk-0123456789abcdef}}]}}\n",
  );
  write("quartermaster.yaml", "server:\n  listen: 127.0.0.1:8470\n");
  await say(
    "policy apply keyed.yaml --yes",
    "policy export --config quartermaster.yaml",
    "policy export --config quartermaster.yaml --json",
    "policy export",
  );
  expectGolden("policy", steps, new Map([[workspace.folder, "<folder>"]]));
});

test("policy draft", async () => {
  using workspace = await createInstallation();
  const steps: Step[] = [];
  const say = async (...lines: string[]) => {
    for (const line of lines) steps.push({ line, ...(await workspace.run(line)) });
  };
  await say(
    "policy draft list",
    "policy draft show root@example.org",
    "policy draft show nobody@example.org",
  );
  await beginPolicyOn(workspace);
  await draftOn(workspace, BAD);
  await say("policy draft list", "policy draft list --json", "policy draft show root@example.org");
  await say(
    "policy draft publish root@example.org --yes",
    "policy draft export root@example.org",
    "policy impact --draft root@example.org",
  );
  await reportOn(workspace, [
    { instance_id: "i-1", hostname: "lab-1", harnesses: [{ name: "codex", version: "0.145.0" }] },
  ]);
  await draftOn(
    workspace,
    "revision: any\nallowed_harnesses: [codex]\nharnesses: {codex: {version_requirement: '>=0.146.0'}}\n",
  );
  const reading = ["show root@example.org", "show root@example.org --json", "export root@example.org"];
  const changing = [
    "export root@example.org --json",
    "publish root@example.org --dry-run",
    "publish root@example.org --yes",
    "publish root@example.org --yes --comment newer",
  ];
  await say(
    "policy impact --draft root@example.org",
    "policy impact --draft root@example.org --json",
    "policy impact",
  );
  await say(...[...reading, ...changing].map((verb) => `policy draft ${verb}`));
  for (const more of ["--json", ""]) {
    await draftOn(workspace, "revision: any\nallowed_harnesses: [kimi]\n");
    const comment = "--comment 'fewer'".replaceAll("'", "");
    if (more === "--json") await say(`policy draft publish root@example.org --yes ${comment} ${more}`);
    await draftOn(workspace, "revision: any\nallowed_harnesses: [claude]\n");
    await say(`policy draft discard root@example.org --yes ${more}`.trim());
  }
  await draftOn(workspace, "# ours\nrevision: any\nallowed_harnesses: [claude]\n");
  writeFileSync(join(workspace.folder, "policy.yaml"), POLICY);
  await say("policy apply policy.yaml --yes --comment models", "policy draft show root@example.org");
  expectGolden("policy-drafts", steps, new Map([[workspace.folder, "<folder>"]]));
});

test("policy conflicts", async () => {
  using workspace = await createInstallation();
  const steps: Step[] = [];
  const say = async (...lines: string[]) => {
    for (const line of lines) steps.push({ line, ...(await workspace.run(line)) });
  };
  const verbs = ["keep /ttl_seconds --dry-run", "keep /required --yes", "take /ttl_seconds --dry-run"];
  await say("policy conflicts list");
  await conflictOn(workspace);
  await say("policy conflicts list", "policy conflicts list --json");
  await say(...verbs.map((verb) => `policy conflicts ${verb}`));
  await say(
    "policy conflicts take /ttl_seconds --yes --comment settled",
    "policy conflicts take /ttl_seconds",
  );
  await conflictOn(workspace);
  await say("policy conflicts keep /ttl_seconds --yes --json", "policy conflicts list");
  await conflictOn(workspace);
  await say("policy conflicts keep /ttl_seconds --yes");
  await conflictOn(workspace);
  await say("policy conflicts take /ttl_seconds --yes --json");
  expectGolden("policy-conflicts", steps, new Map([[workspace.folder, "<folder>"]]));
});

describe("a running service", () => {
  let root: string;
  beforeAll(() => {
    root = temporaryDirectory();
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const config = (ttl: number, more = ""): string =>
    `governance:\n  revision: any\n  ttl_seconds: ${ttl}\n  allowed_harnesses: [codex]\n${more}`;
  const policyOf = async (data: string): Promise<Record<string, unknown>> => {
    const { stdout } = await runHere(["policy", "show", "--json", "--data-dir", data], { cwd: root });
    return JSON.parse(stdout);
  };

  test("loads the policy section of its file at start and at SIGHUP, keeps what a command published, and logs it", async () => {
    const [data, file] = [join(root, "data"), join(root, "quartermaster.yaml")];
    writeFileSync(file, config(60));
    await prepareInstallation(data);
    await using service = await startService({ args: ["--data-dir", data, "--config", file] });
    await service.logged("policy.bootstrap");
    expect(await policyOf(data)).toMatchObject({
      number: 1,
      origin: "bootstrap",
      document: { ttl_seconds: 60 },
    });

    const applied = join(root, "policy.yaml");
    writeFileSync(applied, "{revision: x, ttl_seconds: 90, allowed_harnesses: [codex]}");
    const args = ["policy", "apply", applied, "--yes", "--data-dir", data];
    const { exitCode, stderr } = await runHere(args, { cwd: root });
    expect([exitCode, exitCode === 0 ? "" : stderr]).toEqual([0, ""]);

    writeFileSync(file, config(120, "  required: true\n"));
    service.signal("SIGHUP");
    await service.logged("policy.conflict");
    expect(await policyOf(data)).toMatchObject({
      number: 3,
      origin: "deployment",
      document: { ttl_seconds: 90, required: true },
      deployment_conflicts: ["/ttl_seconds"],
    });

    writeFileSync(file, config(120, "  requird: true\n"));
    service.signal("SIGHUP");
    await service.logged("policy.problem");
    expect(service.stderr()).toContain("/governance/requird");
    expect(await policyOf(data)).toMatchObject({ number: 3 });
  });

  test("does not start with an invalid section, and names the line", async () => {
    const file = join(root, "bad.yaml");
    writeFileSync(file, config(60, "  requird: true\n"));
    const args = [
      "serve",
      "--data-dir",
      join(root, "bad"),
      "--config",
      file,
      "--server-listen",
      "127.0.0.1:0",
    ];
    const { exitCode, stderr } = await runHere(args, { cwd: root });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`${file}:5: /governance/requird`);
  });
});
