// `connections` and `artifacts`: a commit from a host with a private CA is added to the store and removed from it, with commands.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectGolden } from "../../../support/cli/golden.ts";
import { createInstallation, type Workspace } from "../../../support/in-process.ts";
import { createInstalledHost, HOST_CONFIG, publishOn } from "../../../support/sources/installed-host.ts";
import { type RepositoryHost, TOKEN } from "../../../support/sources/repository-host.ts";

let workspace: Workspace;
let host: RepositoryHost;
beforeAll(async () => {
  workspace = await createInstallation();
  host = await createInstalledHost(workspace.folder);
});
afterAll(() => {
  host[Symbol.dispose]();
  workspace[Symbol.dispose]();
});

const CONFIG = `--config ${HOST_CONFIG}`;
const NAMED = "--connection forge --repository acme/tools --ref main";

describe("SRC-32 connections", () => {
  test("lists and shows connections with their hosts, and never with a secret (SRC-35)", async () => {
    const { items } = await workspace.json(`connections list ${CONFIG}`);
    expect(items).toEqual([
      {
        id: "forge",
        name: "forge",
        provider: "gitea",
        address: `${host.origin}/api/v1`,
        namespaces: ["acme"],
        skip_links: false,
        status: "unverified",
        reason: null,
        since: null,
        problems: [],
      },
    ]);
    const shown = await workspace.run(`connections show forge ${CONFIG}`);
    const config = await workspace.run(`config show ${CONFIG}`);
    expect(config.stdout).toContain("package_sources.connections[forge]");
    for (const { stdout } of [shown, config]) expect(stdout).not.toContain(TOKEN);
  });

  test("verifies the host, clock, repository and scope of a connection", async () => {
    const { verified, checks } = await workspace.json(
      `connections verify forge --repository acme/tools ${CONFIG}`,
    );
    const results = Object.fromEntries(
      Object.values(Object(checks)).map((finding) => [Object(finding).check, Object(finding).result]),
    );
    expect(verified).toBe(true);
    expect(results).toEqual({ host: "ok", clock: "warning", repository: "ok", scope: "warning" });
  });

  test("exits with 7 and a remedy if a connection fails a check", async () => {
    const absent = await workspace.run(`connections verify forge --repository acme/absent ${CONFIG}`);
    expect([absent.exitCode, absent.stdout]).toEqual([7, expect.stringContaining("read:repository")]);
    const outside = await workspace.run(`connections verify forge --repository other/tools ${CONFIG}`);
    expect([outside.exitCode, outside.stdout]).toEqual([7, expect.stringContaining("namespace")]);
  });

  test("does not trust a host without the private CA, regardless of the environment (SRC-16)", async () => {
    const bare = JSON.stringify({
      package_sources: {
        connections: [
          {
            id: "forge",
            provider: "gitea",
            api_base_url: host.origin,
            token: "file://forge-token",
            organizations: { dev: ["acme"] },
          },
        ],
      },
    });
    writeFileSync(join(workspace.folder, "bare.yaml"), bare, { mode: 0o600 });
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    try {
      const { exitCode, stdout } = await workspace.run("connections verify forge --config bare.yaml");
      expect([exitCode, stdout]).toEqual([7, expect.stringContaining("not trusted")]);
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });

  test("reports connections without a namespace for this organization", async () => {
    const organizations = { elsewhere: ["acme"] };
    const git = { id: "other", provider: "git", api_base_url: "https://git.example", organizations };
    const file = { package_sources: { connections: [git] } };
    writeFileSync(join(workspace.folder, "other.yaml"), JSON.stringify(file), { mode: 0o600 });
    expect((await workspace.run("connections list --config other.yaml")).stdout).toContain(
      "none of its namespaces",
    );
  });

  test("names faulty connections in list, doctor, status and config check, and keeps running (SRC-30)", async () => {
    const faulty = { package_sources: { connections: [{ id: "broken", provider: "svn" }] } };
    writeFileSync(join(workspace.folder, "faulty.yaml"), JSON.stringify(faulty), { mode: 0o600 });
    const file = "--config faulty.yaml";
    for (const command of ["connections list", "doctor", "status", "config check"]) {
      const { stdout, stderr } = await workspace.run(`${command} ${file}`);
      expect(stdout + stderr).toContain("provider must be one of github");
    }
    const verified = await workspace.run(`connections verify broken ${file}`);
    expect(verified.stderr).toContain('connection "broken" is disabled: provider must be one of github');
    const create = `artifacts create --connection broken --repository a/b --ref main ${file}`;
    expect((await workspace.run(create)).stderr).toContain(
      'connection "broken" is disabled: provider must be',
    );
    expect((await workspace.run(`catalog list ${file}`)).exitCode).toBe(0);
  });
});

describe("SRC-32 artifacts", () => {
  test("previews, makes, lists, shows and checks artifacts with their origin (SRC-29)", async () => {
    const commit = host.branches.get("main");
    const preview = await workspace.json(`artifacts create ${NAMED} --dry-run ${CONFIG}`);
    expect(preview).toMatchObject({ resolved_commit: commit, ref_kind: "branch", stored: false });
    const made = await workspace.json(`artifacts create ${NAMED} --path skills ${CONFIG}`);
    expect(made).toMatchObject({
      source_ref: "gitea://forge/acme/tools@main#skills",
      resolved_commit: commit,
      paths: ["guide/SKILL.md"],
    });
    const shown = await workspace.json(`artifacts show ${made.artifact_id}`);
    expect(shown).toMatchObject({
      id: made.artifact_id,
      sha256: made.sha256,
      in_use: false,
      mirrored_from: [{ connection_id: "forge", repository: "acme/tools", path: "skills", mirror_format: 1 }],
    });
    expect((await workspace.json("artifacts list")).items).toEqual([shown]);
    expect(await workspace.json("artifacts verify")).toMatchObject({
      checked: 1,
      items: [{ result: "intact" }],
    });
  });

  test("reports damaged artifacts with exit code 7", async () => {
    const { artifact_id, sha256 } = await workspace.json(`artifacts create ${NAMED} ${CONFIG}`);
    const path = join(workspace.data, "artifacts/sha256", String(sha256).slice(0, 2), String(sha256));
    writeFileSync(path, "other");
    expect((await workspace.run(`artifacts verify ${artifact_id}`)).exitCode).toBe(7);
    rmSync(path);
    await workspace.json(`artifacts create ${NAMED} ${CONFIG}`);
    expect((await workspace.run(`artifacts verify ${artifact_id}`)).exitCode).toBe(0);
  });

  test("removes artifacts unless they are in use (SRC-33)", async () => {
    const { artifact_id, sha256, source_ref } = await workspace.json(`artifacts create ${NAMED} ${CONFIG}`);
    const entry = { id: "guide", version: "1.0.0", source_ref, artifact_id, sha256, adapters: {} };
    writeFileSync(join(workspace.folder, "catalog.json"), JSON.stringify([entry]));
    await workspace.json("catalog seed catalog.json");
    expect((await workspace.run(`artifacts remove ${artifact_id} --yes`)).stderr).toContain(
      "names this archive",
    );
    await workspace.json("catalog remove guide --yes");
    const removed = await workspace.json(`artifacts remove ${artifact_id} --yes`);
    expect(removed).toMatchObject({ removed: { id: artifact_id, sha256 } });
    expect((await workspace.run(`artifacts show ${artifact_id}`)).exitCode).not.toBe(0);
  });
});

test("CLI-3 repositories", async () => {
  using other = await createInstallation();
  using forge = await createInstalledHost(other.folder);
  const made = await other.json(`artifacts create ${NAMED} ${CONFIG}`);
  const id = String(made.artifact_id);
  const steps = [];
  for (const line of [
    `connections list ${CONFIG}`,
    `connections list --json ${CONFIG}`,
    `connections show forge ${CONFIG}`,
    `connections show forge --json ${CONFIG}`,
    `connections verify forge --repository acme/tools ${CONFIG}`,
    `connections verify forge --json ${CONFIG}`,
    `connections verify absent ${CONFIG}`,
    `artifacts create ${NAMED} --dry-run ${CONFIG}`,
    `artifacts create ${NAMED} ${CONFIG}`,
    `artifacts create ${NAMED} --json ${CONFIG}`,
    `artifacts create --connection forge --repository acme --ref a..b ${CONFIG}`,
    "artifacts list",
    "artifacts list --json",
    `artifacts show ${id}`,
    `artifacts show ${id} --json`,
    "artifacts verify",
    "artifacts verify --json",
    `artifacts remove ${id} --dry-run`,
    `artifacts remove ${id} --yes`,
    `artifacts remove ${id} --yes`,
  ])
    steps.push({ line, ...(await other.run(line)) });
  const again = await other.json(`artifacts create ${NAMED} --path skills ${CONFIG}`);
  const { artifact_id } = await other.json(`artifacts create ${NAMED} ${CONFIG}`);
  await publishOn(other, { ...made, artifact_id });
  forge.branches.set(
    "main",
    forge.commit({ "skills/guide/SKILL.md": "# Newer\n", "skills/new/SKILL.md": "# New\n" }),
  );
  for (const line of [
    `packages update --from forge --dry-run ${CONFIG}`,
    `packages update guide --from forge --dry-run --json ${CONFIG}`,
    `packages update --from forge ${CONFIG}`,
    `packages update --from forge --yes ${CONFIG}`,
    `packages update --from forge --yes --json ${CONFIG}`,
    `packages update other --from forge ${CONFIG}`,
  ])
    steps.push({ line, ...(await other.run(line)) });
  steps.push({
    line: "artifacts remove ID --yes --json",
    ...(await other.run(`artifacts remove ${again.artifact_id} --yes --json`)),
  });
  expectGolden(
    "repositories",
    steps,
    new Map<string | RegExp, string>([
      [other.folder, "<folder>"],
      [forge.origin, "https://localhost:PORT"],
      [/by \d+ s/g, "by N s"],
      // The host compresses with the runtime's compressor, whose output may change.
      [/(host_sha256"?:? +"?)[0-9a-f]{64}/g, "$1<sha256>"],
    ]),
  );
});

test("a mirrored package travels in a bundle to an installation without connections (SRC-43)", async () => {
  const { artifact_id, sha256, source_ref } = await workspace.json(`artifacts create ${NAMED} ${CONFIG}`);
  const entry = { id: "guide", version: "1.0.0", source_ref, artifact_id, sha256, adapters: {} };
  writeFileSync(join(workspace.folder, "catalog.json"), JSON.stringify([entry]));
  await workspace.json("catalog seed catalog.json --prune --yes");
  const bundle = join(workspace.folder, "out.qmc");
  const { public_key: key } = await workspace.json("catalog bundle-key");
  await workspace.json(`catalog export --bundle ${bundle}`);
  using other = await createInstallation();
  writeFileSync(join(other.folder, "signer.pub"), String(key));
  await other.json(`catalog import ${bundle} --trust signer.pub --yes`);
  const imported = await other.json("catalog show guide");
  expect(imported).toMatchObject({ source_ref, sha256, artifact_id: expect.any(String) });
  expect(imported.artifact_id).not.toBe(artifact_id);
  expect((await other.json("catalog verify")).checked).toBe(1);
});
