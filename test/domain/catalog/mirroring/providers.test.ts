// Mirroring a commit from each kind of host: the requests, the responses, and what is stored.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DomainError } from "../../../../src/platform/errors.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { connectionTo, createMirrorSite, type MirrorSite } from "../../../support/sources/mirror-site.ts";
import {
  createRepositoryHost,
  type RepositoryHost,
  TOKEN,
} from "../../../support/sources/repository-host.ts";
import type { HostKind } from "../../../support/sources/repository-responses.ts";

const FILES = { "skills/guide/SKILL.md": "# Guide\n", "run.sh": "#!/bin/sh\n" };
const KINDS: readonly [HostKind, string][] = [
  ["github", "github"],
  ["gitlab", "gitlab"],
  ["gitea", "gitea"],
  ["bitbucket_data_center", "bitbucket"],
];

const refusal = async (attempt: Promise<unknown>) => {
  const error = await attempt.then(JSON.stringify, (thrown: unknown) => thrown);
  if (error instanceof DomainError) return [error.kind, error.reason];
  throw new Error(`expected a DomainError, got ${error}`);
};

describe.each(KINDS)("a repository of %s", (kind, scheme) => {
  let host: RepositoryHost;
  let site: MirrorSite;
  beforeEach(async () => {
    host = createRepositoryHost(kind);
    site = await createMirrorSite([connectionTo(host)]);
  });
  afterEach(async () => {
    host[Symbol.dispose]();
    await site[Symbol.asyncDispose]();
  });

  test("is mirrored by branch, tag and commit with the same archive (SRC-5, SRC-6, SRC-19)", async () => {
    const commit = host.commit(FILES);
    host.branches.set("main", commit);
    host.tags.set("v1.0.0", commit);
    const mirrored = await site.inspect();
    expect(mirrored).toMatchObject({
      sourceRef: `${scheme}://host/acme/tools@main`,
      commit,
      entries: 2,
      paths: ["run.sh", "skills/guide/SKILL.md"],
      repository: { refKind: "branch", committedAtMs: Date.parse("2025-11-12T08:09:10Z"), skipped: [] },
    });
    const byTag = await site.inspect({ ref: "v1.0.0" });
    const byCommit = await site.inspect({ ref: commit });
    expect([byTag.repository?.refKind, byCommit.repository?.refKind]).toEqual(["tag", "commit"]);
    expect(new Set([mirrored, byTag, byCommit].map(({ artifactId }) => artifactId)).size).toBe(1);
    expect(host.seen.filter(({ path }) => /archive|tarball/.test(path))).toHaveLength(1);
    expect(site.observed.map(({ outcome }) => outcome)).toEqual(["mirrored", "known", "known"]);
  });

  test("receives encoded names (SRC-4)", async () => {
    host.branches.set("feature/x+1@2", host.commit(FILES));
    expect((await site.inspect({ ref: "feature/x+1@2" })).repository?.refKind).toBe("branch");
    expect(host.seen.some(({ path }) => /feature%2Fx(?:%2B|\+)1/.test(path))).toBe(true);
    expect(host.seen.some(({ path }) => path.includes("feature/x"))).toBe(false);
  });

  test("does not distinguish a missing repository from an inaccessible one (SRC-7)", async () => {
    host.branches.set("main", host.commit(FILES));
    expect(await refusal(site.inspect({ repository: "acme/other" }))).toEqual([
      "invalid",
      "source.repository_not_found",
    ]);
    expect(await refusal(site.inspect({ ref: "absent" }))).toEqual(["invalid", "source.ref_not_found"]);
    const absent = "0".repeat(40);
    expect(await refusal(site.inspect({ ref: absent }))).toEqual(["invalid", "source.ref_not_found"]);
  });

  test("refuses a wrong token and marks the connection as failing since then (SRC-41)", async () => {
    host.branches.set("main", host.commit(FILES));
    site.connections[0] = connectionTo(host, {
      credential: () => ({ kind: "token", token: new Secret("another") }),
    });
    expect(await refusal(site.inspect())).toEqual(["upstream", "source.credential_refused"]);
    const { organizationId } = site.world;
    const since = site.world.clock.nowMs();
    site.world.clock.advance(3_600_000);
    await refusal(site.inspect());
    expect(site.sources.mirrors.states.of(organizationId, "host")).toEqual({
      status: "failing",
      reason: "source.credential_refused",
      sinceMs: since,
    });
    expect(site.sources.connections(organizationId).map(({ status }) => status)).toEqual(["failing"]);
  });

  test("refuses a branch and a tag of one name (SRC-10)", async () => {
    host.branches.set("main", host.commit(FILES));
    host.tags.set("main", host.commit(FILES));
    expect(await refusal(site.inspect())).toEqual(["invalid", "source.ref_ambiguous"]);
  });

  test("is accepted only under its own name (SRC-36)", async () => {
    host.branches.set("main", host.commit(FILES));
    host.fullName = "other/tools";
    host.instead = (request) => {
      if (request.url.includes("other")) return undefined;
      const renamed = new Request(request.url.replace("acme", "other"), request);
      return fetch(renamed);
    };
    expect(await refusal(site.inspect())).toEqual(["forbidden", "source.renamed"]);
    expect(host.seen.some(({ path }) => /archive|tarball/.test(path))).toBe(false);
  });

  test("gets the token in its own header, never in a URL (SRC-35)", async () => {
    host.branches.set("main", host.commit(FILES));
    await site.inspect();
    expect(host.seen.length).toBeGreaterThan(3);
    for (const { path, headers } of host.seen) {
      expect(path).not.toContain(TOKEN);
      expect(JSON.stringify([...headers])).toContain(TOKEN);
    }
  });
});
