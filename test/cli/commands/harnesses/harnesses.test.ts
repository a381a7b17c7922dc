// The signed harness file from end to end: signing, checking, loading by a running service, and rejection of invalid files.
import { afterAll, describe, expect, test } from "bun:test";
import { appendFileSync, copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HARNESS_FILE_FORMAT } from "../../../../src/domain/harnesses/harness-file.ts";
import { TRUSTED_KEYS_BYTES_MAX } from "../../../../src/platform/crypto/file-signatures.ts";
import { createInstallation, type Workspace } from "../../../support/in-process.ts";
import { beginPolicyOn } from "../../../support/installed/installed-policy.ts";
import { startService } from "../../../support/running-service.ts";

const factsWith = (ceiling: string): string =>
  `format: ${HARNESS_FILE_FORMAT}\nharnesses:\n  codex:\n    verified_before: ${ceiling}\n`;
const POLICY = `revision: any
allowed_harnesses: [codex]
harnesses:
  codex:
    version_requirement: ">=0.155.0"
`;
const WITH_FACTS = "--config q.yaml";

const made: Workspace[] = [];
afterAll(() => {
  for (const workspace of made) workspace[Symbol.dispose]();
});

/** An installation with a key, a signed harness file and a configuration that names both. */
async function withFacts(ceiling = "0.160.0-0"): Promise<Workspace & { path(name: string): string }> {
  const workspace = await createInstallation();
  made.push(workspace);
  const path = (name: string) => join(workspace.folder, name);
  const { public_key: key } = await workspace.json("catalog bundle-key");
  writeFileSync(path("home.pub"), String(key));
  writeFileSync(path("agents.yaml"), factsWith(ceiling));
  writeFileSync(path("policy.yaml"), POLICY);
  writeFileSync(path("q.yaml"), "harnesses:\n  file: agents.yaml\n  trust: home.pub\n");
  await workspace.json("harnesses sign agents.yaml");
  return { ...workspace, path };
}

describe("commands", () => {
  test("rejects a policy for newer versions without the file and accepts it with the file", async () => {
    const workspace = await withFacts();
    await beginPolicyOn(workspace);
    const without = await workspace.run("policy check policy.yaml");
    expect(without.exitCode).toBe(2);
    expect(without.stderr).toContain(
      "no certified version of Codex satisfies >=0.155.0; the newest are below 0.151.1-0",
    );
    expect(await workspace.run(`policy check policy.yaml ${WITH_FACTS}`)).toMatchObject({ exitCode: 0 });
    expect(await workspace.run(`policy apply policy.yaml --yes ${WITH_FACTS}`)).toMatchObject({
      exitCode: 0,
    });
    const question = "policy explain --user root@example.org --harness codex --installed 0.156.0";
    expect((await workspace.run(question)).stdout).toContain("is not certified");
    expect((await workspace.run(`${question} ${WITH_FACTS}`)).stdout).not.toContain("is not certified");
  });

  test("list shows the source of each ceiling, and check shows the signer", async () => {
    const workspace = await withFacts();
    const { items, source } = await workspace.json(`harnesses list ${WITH_FACTS}`);
    expect(items).toContainEqual(
      expect.objectContaining({
        profile: "codex-v0_145_0",
        verified_before: "0.160.0-0",
        from: workspace.path("agents.yaml"),
      }),
    );
    expect(items).toContainEqual(expect.objectContaining({ profile: "kimi-v0_0_0", from: "program" }));
    const { signer } = await workspace.json("harnesses check agents.yaml --trust home.pub");
    expect(signer).toMatch(/^[0-9a-f]{64}$/);
    expect(source).toMatchObject({ signer });
    expect((await workspace.json("harnesses check agents.yaml")).signer).toBeNull();
    expect((await workspace.json("harnesses list")).source).toBeNull();
  });

  test("sign rejects an invalid file with its line, and writes no signature", async () => {
    const workspace = await withFacts();
    writeFileSync(workspace.path("bad.yaml"), factsWith("0.100.0"));
    const { stderr, exitCode } = await workspace.run("harnesses sign bad.yaml");
    expect(stderr).toContain("bad.yaml:4:5: /harnesses/codex/verified_before: 0.100.0 is below 0.151.1-0");
    expect(exitCode).toBe(2);
    expect(await Bun.file(workspace.path("bad.yaml.sig")).exists()).toBe(false);
  });

  test.each([-1, 0, 1])("check reads trusted keys of %i bytes more than the limit up to it", async (step) => {
    const workspace = await withFacts();
    const key = await Bun.file(workspace.path("home.pub")).text();
    writeFileSync(workspace.path("home.pub"), key.padEnd(TRUSTED_KEYS_BYTES_MAX + step, "\n"));
    const { exitCode, stderr } = await workspace.run("harnesses check agents.yaml --trust home.pub");
    expect(exitCode).toBe(step > 0 ? 2 : 0);
    if (step > 0) expect(stderr).toContain(`home.pub has more than ${TRUSTED_KEYS_BYTES_MAX} bytes`);
  });

  test("status and doctor name the file, and the reason why it cannot be used", async () => {
    const workspace = await withFacts();
    expect((await workspace.json(`status --offline-ok ${WITH_FACTS}`)).harnesses).toMatchObject({
      file: workspace.path("agents.yaml"),
      problem: null,
    });
    appendFileSync(workspace.path("agents.yaml"), "# altered\n");
    const reason = "agents.yaml was changed after it was signed";
    expect((await workspace.run(`status --offline-ok ${WITH_FACTS}`)).stdout).toContain(reason);
    const { stdout } = await workspace.run(`doctor --json ${WITH_FACTS}`);
    const { checks }: { checks: { check: string }[] } = JSON.parse(stdout);
    expect(checks.find(({ check }) => check === "harnesses")).toMatchObject({
      result: "failed",
      detail: expect.stringContaining(reason),
    });
  });
});

describe("a service does not start with", () => {
  type Facts = Awaited<ReturnType<typeof withFacts>>;
  const cases: readonly [string, (workspace: Facts) => unknown, number, string][] = [
    ["an unsigned file", ({ path }) => rmSync(path("agents.yaml.sig")), 7, "has no signature"],
    [
      "an altered file",
      ({ path }) => appendFileSync(path("agents.yaml"), "#\n"),
      7,
      "was changed after it was signed",
    ],
    [
      "an invalid signature file",
      ({ path }) => writeFileSync(path("agents.yaml.sig"), "no signature"),
      7,
      "was changed after it was signed",
    ],
    [
      "a signature of an untrusted key",
      async ({ path }) => {
        const other = await withFacts();
        copyFileSync(other.path("agents.yaml.sig"), path("agents.yaml.sig"));
      },
      7,
      "no key in",
    ],
    [
      "only one of the two settings",
      ({ path }) => writeFileSync(path("q.yaml"), "harnesses: {file: agents.yaml}\n"),
      2,
      "are given together or not at all",
    ],
  ];
  test.each(cases)("%s", async (_, spoil, exitCode, text) => {
    const workspace = await withFacts();
    await spoil(workspace);
    for (const line of ["config check", "serve --server-listen 127.0.0.1:0"]) {
      const result = await workspace.run(`${line} ${WITH_FACTS}`);
      expect(result.stderr).toContain(text);
      expect(result.exitCode).toBe(exitCode);
    }
  });

  test("a signed file that lowers a ceiling", async () => {
    const workspace = await withFacts();
    writeFileSync(workspace.path("agents.yaml"), factsWith("0.100.0"));
    const key = join(workspace.data, "keys/bundle-signing-key.pem");
    const signed = Bun.spawnSync([
      ...["openssl", "pkeyutl", "-sign", "-inkey", key, "-rawin"],
      ...["-in", workspace.path("agents.yaml"), "-out", workspace.path("agents.yaml.sig")],
    ]);
    expect(signed.exitCode).toBe(0);
    const { stderr, exitCode } = await workspace.run(`serve --server-listen 127.0.0.1:0 ${WITH_FACTS}`);
    expect(stderr).toContain("0.100.0 is below 0.151.1-0");
    expect(exitCode).toBe(2);
  });
});

test("a running service loads a new file at SIGHUP, keeps the old facts if the file is invalid, and records each change", async () => {
  const workspace = await withFacts();
  await using service = await startService({
    args: ["--data-dir", workspace.data, "--config", workspace.path("q.yaml")],
  });
  await service.logged("harnesses.loaded");
  writeFileSync(workspace.path("agents.yaml"), factsWith("0.170.0-0"));
  service.signal("SIGHUP");
  await service.logged("harnesses.rejected");
  await workspace.json("harnesses sign agents.yaml");
  service.signal("SIGHUP");
  await service.logged("harnesses.loaded", 2);
  service.signal("SIGHUP");
  await service.logged("harnesses.loaded", 3);
  const { items } = await workspace.json("audit list --action harnesses.change");
  expect(items).toMatchObject([
    { after: { codex: "0.170.0-0" } },
    { before: { sha256: null }, after: { codex: "0.160.0-0" } },
  ]);
});
