// The signed harness file from end to end: signing, checking, loading by a running service, and rejection of invalid files.
import { afterAll, describe, expect, test } from "bun:test";
import { appendFileSync, copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HARNESS_FILE_FORMAT } from "../../../../src/domain/harnesses/harness-file.ts";
import { TRUSTED_KEYS_BYTES_MAX } from "../../../../src/platform/crypto/file-signatures.ts";
import { type Bench, createInstallation } from "../../../support/in-process.ts";
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

const made: Bench[] = [];
afterAll(() => {
  for (const bench of made) bench[Symbol.dispose]();
});

/** An installation with a key, a signed harness file and a configuration that names both. */
async function withFacts(ceiling = "0.160.0-0"): Promise<Bench & { path(name: string): string }> {
  const bench = await createInstallation();
  made.push(bench);
  const path = (name: string) => join(bench.folder, name);
  const { public_key: key } = await bench.json("catalog bundle-key");
  writeFileSync(path("home.pub"), String(key));
  writeFileSync(path("agents.yaml"), factsWith(ceiling));
  writeFileSync(path("policy.yaml"), POLICY);
  writeFileSync(path("q.yaml"), "harnesses:\n  file: agents.yaml\n  trust: home.pub\n");
  await bench.json("harnesses sign agents.yaml");
  return { ...bench, path };
}

describe("commands", () => {
  test("rejects a policy for newer versions without the file and accepts it with the file", async () => {
    const bench = await withFacts();
    await beginPolicyOn(bench);
    const without = await bench.run("policy check policy.yaml");
    expect(without.exitCode).toBe(2);
    expect(without.stderr).toContain(
      "no certified version of Codex satisfies >=0.155.0; the newest are below 0.151.1-0",
    );
    expect(await bench.run(`policy check policy.yaml ${WITH_FACTS}`)).toMatchObject({ exitCode: 0 });
    expect(await bench.run(`policy apply policy.yaml --yes ${WITH_FACTS}`)).toMatchObject({ exitCode: 0 });
    const question = "policy explain --user root@example.org --harness codex --installed 0.156.0";
    expect((await bench.run(question)).stdout).toContain("is not certified");
    expect((await bench.run(`${question} ${WITH_FACTS}`)).stdout).not.toContain("is not certified");
  });

  test("list shows the source of each ceiling, and check shows the signer", async () => {
    const bench = await withFacts();
    const { items, source } = await bench.json(`harnesses list ${WITH_FACTS}`);
    expect(items).toContainEqual(
      expect.objectContaining({
        profile: "codex-v0_145_0",
        verified_before: "0.160.0-0",
        from: bench.path("agents.yaml"),
      }),
    );
    expect(items).toContainEqual(expect.objectContaining({ profile: "kimi-v0_0_0", from: "program" }));
    const { signer } = await bench.json("harnesses check agents.yaml --trust home.pub");
    expect(signer).toMatch(/^[0-9a-f]{64}$/);
    expect(source).toMatchObject({ signer });
    expect((await bench.json("harnesses check agents.yaml")).signer).toBeNull();
    expect((await bench.json("harnesses list")).source).toBeNull();
  });

  test("sign rejects an invalid file with its line, and writes no signature", async () => {
    const bench = await withFacts();
    writeFileSync(bench.path("bad.yaml"), factsWith("0.100.0"));
    const { stderr, exitCode } = await bench.run("harnesses sign bad.yaml");
    expect(stderr).toContain("bad.yaml:4:5: /harnesses/codex/verified_before: 0.100.0 is below 0.151.1-0");
    expect(exitCode).toBe(2);
    expect(await Bun.file(bench.path("bad.yaml.sig")).exists()).toBe(false);
  });

  test.each([-1, 0, 1])("check reads trusted keys of %i bytes more than the limit up to it", async (step) => {
    const bench = await withFacts();
    const key = await Bun.file(bench.path("home.pub")).text();
    writeFileSync(bench.path("home.pub"), key.padEnd(TRUSTED_KEYS_BYTES_MAX + step, "\n"));
    const { exitCode, stderr } = await bench.run("harnesses check agents.yaml --trust home.pub");
    expect(exitCode).toBe(step > 0 ? 2 : 0);
    if (step > 0) expect(stderr).toContain(`home.pub has more than ${TRUSTED_KEYS_BYTES_MAX} bytes`);
  });

  test("status and doctor name the file, and the reason why it cannot be used", async () => {
    const bench = await withFacts();
    expect((await bench.json(`status --offline-ok ${WITH_FACTS}`)).harnesses).toMatchObject({
      file: bench.path("agents.yaml"),
      problem: null,
    });
    appendFileSync(bench.path("agents.yaml"), "# altered\n");
    const reason = "agents.yaml was changed after it was signed";
    expect((await bench.run(`status --offline-ok ${WITH_FACTS}`)).stdout).toContain(reason);
    const { stdout } = await bench.run(`doctor --json ${WITH_FACTS}`);
    const { checks }: { checks: { check: string }[] } = JSON.parse(stdout);
    expect(checks.find(({ check }) => check === "harnesses")).toMatchObject({
      result: "failed",
      detail: expect.stringContaining(reason),
    });
  });
});

describe("a service does not start with", () => {
  type Facts = Awaited<ReturnType<typeof withFacts>>;
  const cases: readonly [string, (bench: Facts) => unknown, number, string][] = [
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
    const bench = await withFacts();
    await spoil(bench);
    for (const line of ["config check", "serve --server-listen 127.0.0.1:0"]) {
      const result = await bench.run(`${line} ${WITH_FACTS}`);
      expect(result.stderr).toContain(text);
      expect(result.exitCode).toBe(exitCode);
    }
  });

  test("a signed file that lowers a ceiling", async () => {
    const bench = await withFacts();
    writeFileSync(bench.path("agents.yaml"), factsWith("0.100.0"));
    const key = join(bench.data, "keys/bundle-signing-key.pem");
    const signed = Bun.spawnSync([
      ...["openssl", "pkeyutl", "-sign", "-inkey", key, "-rawin"],
      ...["-in", bench.path("agents.yaml"), "-out", bench.path("agents.yaml.sig")],
    ]);
    expect(signed.exitCode).toBe(0);
    const { stderr, exitCode } = await bench.run(`serve --server-listen 127.0.0.1:0 ${WITH_FACTS}`);
    expect(stderr).toContain("0.100.0 is below 0.151.1-0");
    expect(exitCode).toBe(2);
  });
});

test("a running service loads a new file at SIGHUP, keeps the old facts if the file is invalid, and records each change", async () => {
  const bench = await withFacts();
  await using service = await startService({
    args: ["--data-dir", bench.data, "--config", bench.path("q.yaml")],
  });
  await service.logged("harnesses.loaded");
  writeFileSync(bench.path("agents.yaml"), factsWith("0.170.0-0"));
  service.signal("SIGHUP");
  await service.logged("harnesses.rejected");
  await bench.json("harnesses sign agents.yaml");
  service.signal("SIGHUP");
  await service.logged("harnesses.loaded", 2);
  service.signal("SIGHUP");
  await service.logged("harnesses.loaded", 3);
  const { items } = await bench.json("audit list --action harnesses.change");
  expect(items).toMatchObject([
    { after: { codex: "0.170.0-0" } },
    { before: { sha256: null }, after: { codex: "0.160.0-0" } },
  ]);
});
