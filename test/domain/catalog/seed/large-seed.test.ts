// A large catalog is checked, planned, written and listed in steps, between which the service keeps responding.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { entriesOf, planCatalog } from "../../../../src/domain/catalog/seed/changes.ts";
import { findSourceWarnings } from "../../../../src/domain/catalog/sources/source-warnings.ts";
import { readCatalog } from "../../../../src/domain/catalog/tasks.ts";
import { runSynchronously, type Steps } from "../../../../src/platform/steps.ts";
import { largePackages } from "../../../support/content/large-content.ts";
import { createTestServer, type TestServer } from "../../../support/server.ts";

const BYTES = 200_000;
const PACKAGES_PER_STEP = 100;

let site: TestServer;
const bytes = Buffer.from(JSON.stringify(largePackages("small", BYTES)));
const packages = readCatalog({ bytes, fileName: "catalog.json" }).parts.flatMap((part) => JSON.parse(part));
const files = {
  resolve: (sourceRef: string) => sourceRef,
  open: () => Promise.reject(new Error("the file names no local archive")),
};

beforeAll(async () => {
  site = await createTestServer();
  const request = { bytes, fileName: "catalog.json", files, prune: false };
  await site.domain.catalog.seed.apply(site.world.system, request);
});
afterAll(() => site[Symbol.asyncDispose]());

function stepsIn(work: Steps<unknown>): number {
  let steps = 1;
  while (!work.next().done) steps += 1;
  return steps;
}

test.each<[string, () => Steps<unknown>]>([
  ["looks for warnings", () => findSourceWarnings(packages)],
  ["writes the entries as text", () => entriesOf(packages, () => undefined)],
  [
    "reads what is stored to compare with it",
    () => planCatalog(site.world.db.read, site.world.organizationId, { wanted: [], prune: false }),
  ],
  ["lists the entries", () => site.domain.catalog.listing(site.world.organizationId)],
])("a step that %s is short", (_, work) => {
  const steps = stepsIn(work());
  expect({ steps, isEnough: steps > packages.length / PACKAGES_PER_STEP }).toEqual({ steps, isEnough: true });
});

test("the listing has the entries in the order of the file", () => {
  const listing = Buffer.from(runSynchronously(site.domain.catalog.listing(site.world.organizationId)));
  expect(JSON.parse(listing.toString()).map(({ id }: { id: string }) => id)).toEqual(
    packages.map(({ id }) => id),
  );
});
