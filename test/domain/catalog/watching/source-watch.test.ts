// Outdated packages and the guided update: newer commits are found without a download, moved tags are recorded, and an update lists
// the files that change.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ManagedPackage } from "../../../../src/domain/catalog/model.ts";
import { PackageUpdates } from "../../../../src/domain/catalog/watching/package-updates.ts";
import { SourceWatch } from "../../../../src/domain/catalog/watching/source-watch.ts";
import { putAnnouncement } from "../../../../src/domain/catalog/watching/watch-store.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { connectionTo, createMirrorSite, type MirrorSite } from "../../../support/sources/mirror-site.ts";
import { createRepositoryHost, type RepositoryHost } from "../../../support/sources/repository-host.ts";
import { packageOf } from "../../governance/governance-world.ts";

const HOUR_MS = 3_600_000;

let host: RepositoryHost;
let site: MirrorSite;
let watch: SourceWatch;
let updates: PackageUpdates;
let packages: ManagedPackage[];
let commit: string;
beforeEach(async () => {
  host = createRepositoryHost("gitea");
  commit = host.commit({ "skills/a.md": "a", "skills/b.md": "b", "run.sh": "1" });
  host.branches.set("main", commit);
  host.tags.set("v1.0.0", commit);
  site = await createMirrorSite([connectionTo(host, { watchEveryHours: 6 })]);
  packages = [];
  const parts = { ...site.world, blobs: site.blobs, packagesInForce: () => packages };
  const connections = { list: () => site.connections, broken: () => [] };
  watch = new SourceWatch({ ...parts, connections, mirrors: site.sources.mirrors });
  updates = new PackageUpdates({ ...parts, packageSources: site.sources, sourceWatch: watch });
});
afterEach(async () => {
  host[Symbol.dispose]();
  await site[Symbol.asyncDispose]();
});

/** Publishes the policy with the commit that the ref points to now. */
async function publish(id: string, ref: string, more: object = {}) {
  const { sourceRef, artifactId, sha256 } = await site.inspect({ ref });
  const source = { source_ref: sourceRef, artifact_id: artifactId, sha256 };
  packages.push({ ...packageOf(id, source), ...more });
}
const look = () => watch.check(site.world.system, new AbortController().signal);
const behind = () =>
  watch.behind(site.world.organizationId).map(({ packageId, latestCommit }) => [packageId, latestCommit]);

describe("SRC-26 the packages of the policy", () => {
  test("lists packages as behind once a check found a newer commit, and downloads nothing", async () => {
    await publish("guide", "main");
    await publish("pinned", commit);
    await look();
    expect(behind()).toEqual([]);
    const next = host.commit({ "skills/a.md": "changed" });
    host.branches.set("main", next);
    host.seen.length = 0;
    expect((await look()).looked).toBe(0); // it is not due
    site.world.clock.advance(6 * HOUR_MS);
    expect((await look()).looked).toBe(1);
    expect(behind()).toEqual([["guide", next]]);
    expect(host.seen.some(({ path }) => path.includes("/archive/"))).toBe(false);
    expect(watch.managedSources(site.world.organizationId).guide).toEqual({
      connection_id: "host",
      repository: "acme/tools",
      requested_ref: "main",
      resolved_commit: commit,
    });
  });

  test.each(["..", "a/../b", "-x", "main@{1}", "x".repeat(256)])(
    "never requests a name that is not a ref from the host, whatever the policy contains: %s (SRC-4)",
    async (ref) => {
      await publish("guide", "main", { source_ref: `gitea://host/acme/tools@${ref}` });
      host.seen.length = 0;
      expect([(await look()).looked, host.seen]).toEqual([0, []]);
    },
  );

  test("looks packages up immediately after an announcement of their host (SRC-27)", async () => {
    await publish("guide", "main");
    await look();
    expect((await look()).looked).toBe(0);
    site.world.clock.advance(1_000);
    const key = { organizationId: site.world.organizationId, connectionId: "host" };
    const announcedAtMs = site.world.clock.nowMs();
    await site.world.db.write((tx) => putAnnouncement(tx, { ...key, announcedAtMs }));
    site.world.clock.advance(1_000);
    expect([(await look()).looked, (await look()).looked]).toEqual([1, 0]);
  });

  test("records a moved tag that a package follows in the audit log, once (SRC-34)", async () => {
    await publish("guide", "v1.0.0");
    const moved = host.commit({ "skills/a.md": "tampered" });
    host.tags.set("v1.0.0", moved);
    expect((await look()).movedTags).toEqual([
      { connectionId: "host", repository: "acme/tools", tag: "v1.0.0" },
    ]);
    site.world.clock.advance(6 * HOUR_MS);
    expect((await look()).movedTags).toEqual([]);
    const actions = site.world.db.read.all<{ action: string }>("SELECT action FROM audit_entries");
    expect(actions.filter(({ action }) => action === "source.find_moved_tag")).toHaveLength(1);
  });

  test("leaves packages of a failing host as they were and marks the connection as failing", async () => {
    await publish("guide", "main");
    host.instead = () => new Response("", { status: 500 });
    await look();
    expect(behind()).toEqual([]);
    expect(site.sources.mirrors.states.of(site.world.organizationId, "host").reason).toBe("source.host_down");
  });

  test.each([500, 429])("wait if the host responds %i, and come first at the next check", async (status) => {
    await publish("guide", "main");
    await publish("tagged", "v1.0.0");
    host.instead = ({ url }) => (url.endsWith("/main") ? new Response("", { status }) : undefined);
    expect((await look()).looked).toBe(1);
    site.world.clock.advance(6 * HOUR_MS);
    expect((await look()).looked).toBe(2);
    const seen = site.world.db.read.all("SELECT ref FROM source_watches WHERE commit_id IS NOT NULL");
    expect(seen).toEqual([{ ref: "v1.0.0" }]);
  });

  test("does not look up namespaces that the organization no longer has (SRC-36)", async () => {
    await publish("guide", "main");
    site.connections[0] = connectionTo(host, { watchEveryHours: 6, namespaces: ["other"] });
    host.seen.length = 0;
    expect([(await look()).looked, host.seen]).toEqual([0, []]);
  });

  test("does not look up packages of connections without checks", async () => {
    await publish("guide", "main");
    site.connections[0] = connectionTo(host);
    expect([watch.isWanted(), (await look()).looked]).toEqual([false, 0]);
  });
});

describe("SRC-28 an update", () => {
  const prepare = (more: object = {}) =>
    updates.prepare(site.world.system, { connectionId: "host", packageIds: [], ref: undefined, ...more });
  const reasonOf = (attempt: Promise<unknown>) =>
    attempt.then(
      () => "done",
      (error: unknown) => (error instanceof DomainError ? error.reason : error),
    );

  test("lists the added, changed and removed files", async () => {
    await publish("guide", "main", { version: "1.0.0+000000000000" });
    const next = host.commit({ "skills/a.md": "a", "skills/b.md": "changed", "skills/c.md": "new" });
    host.branches.set("main", next);
    const [update] = await prepare();
    expect(update).toMatchObject({
      formerCommit: commit,
      commit: next,
      difference: { added: ["skills/c.md"], changed: ["skills/b.md"], removed: ["run.sh"] },
      after: { id: "guide", version: `1.0.0+${next.slice(0, 12)}`, source_ref: packages[0]?.source_ref },
    });
    expect(update?.after.sha256).not.toBe(packages[0]?.sha256);
  });

  test("takes the version and the ref of a tag", async () => {
    await publish("guide", "v1.0.0");
    host.tags.set("v1.1.0", host.commit({ "skills/a.md": "b" }));
    const [update] = await prepare({ ref: "v1.1.0" });
    expect(update?.after).toMatchObject({ version: "1.1.0", source_ref: "gitea://host/acme/tools@v1.1.0" });
  });

  test("is not needed for the same commit, and impossible for packages from elsewhere", async () => {
    expect(await reasonOf(prepare())).toBe("package_update.nothing");
    await publish("guide", "main");
    expect(await prepare()).toEqual([]);
    expect(await reasonOf(prepare({ packageIds: ["guide", "other"] }))).toBe("package_update.nothing");
    expect(await reasonOf(prepare({ connectionId: "other" }))).toBe("package_update.nothing");
  });

  test("is refused if the new commit lacks a path that the package uses", async () => {
    await publish("guide", "main", {
      adapters: { kimi: { skills_dir: "skills", plugins: [], helpers: {} } },
    });
    host.branches.set("main", host.commit({ "other/a.md": "moved" }));
    expect(await reasonOf(prepare())).toBe("package_update.missing_path");
  });
});
