// The removal of stored archives: a referenced archive stays; one without references for some days is removed, first its row and
// then its bytes.
import { expect, test } from "bun:test";
import { Artifacts, UNNAMED_DAYS_MAX } from "../../../../src/domain/catalog/sources/artifacts.ts";
import { namedArtifacts } from "../../../../src/domain/governance/delivery/artifact-uses-store.ts";
import { parseDigest } from "../../../../src/platform/blobs/blobs.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { connectionTo, createMirrorSite } from "../../../support/sources/mirror-site.ts";
import { createRepositoryHost } from "../../../support/sources/repository-host.ts";

test("SRC-33 an archive that nothing names is removed after 90 days, and a named one stays", async () => {
  using host = createRepositoryHost("gitea");
  host.branches.set("main", host.commit({ "a.md": "one" }));
  await using site = await createMirrorSite([connectionTo(host)]);
  const { world, blobs } = site;
  const { artifactId, sha256 } = await site.inspect();
  let named = new Set([artifactId]);
  const artifacts = new Artifacts({
    ...world,
    blobs,
    *namedElsewhere(connection, organizationId) {
      const found = yield* namedArtifacts(connection, organizationId);
      return new Set([...found, ...named]);
    },
  });
  const retire = () => artifacts.retire(world.system, new AbortController().signal);
  const days = (count: number) => world.clock.advance(count * DAY_MS);
  expect(await retire()).toBe(0);
  days(2 * UNNAMED_DAYS_MAX);
  expect(await retire()).toBe(0);
  named = new Set();
  expect(await retire()).toBe(0); // it counts from here
  days(UNNAMED_DAYS_MAX - 1);
  expect(await retire()).toBe(0);
  named = new Set([artifactId]);
  await retire(); // referenced again in between: the days start over
  named = new Set();
  await retire();
  days(UNNAMED_DAYS_MAX - 1);
  expect(await retire()).toBe(0);
  days(1);
  expect(await retire()).toBe(1);
  expect([artifacts.list(world.organizationId), await blobs.has(parseDigest(sha256))]).toEqual([[], false]);
  const [last] = world.db.read.all<{ action: string; before: string }>(
    "SELECT action, before FROM audit_entries ORDER BY id DESC LIMIT 1",
  );
  expect(last?.action).toBe("artifact.remove");
  expect((await site.inspect()).sha256).toBe(sha256);
});
