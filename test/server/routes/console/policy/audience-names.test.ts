// CON-55: the review, the history and the difference of two revisions name the people and groups of audiences.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { IDS_NAMED_MAX } from "../../../../../src/domain/governance/shown/change-list.ts";
import { AUDIENCE_NAMES_MAX } from "../../../../../src/server/routes/console/policy/audience-names.ts";
import { packageOf } from "../../../../domain/governance/governance-world.ts";
import { addScimUsers, membersOf } from "../../../../domain/scim/groups/groups-world.ts";
import { consoleBrowser } from "../../../../support/browser/console-browser.ts";
import { formTo } from "../../../../support/browser/form-browser.ts";
import { createTestServer } from "../../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
const { governance, scim } = site.domain;
const { organizationId } = site.world;
const caller = {
  actor: { kind: "scim", id: null, label: "scim:test", organizationId },
  profile: "standard",
} as const;
const PLACES = AUDIENCE_NAMES_MAX / IDS_NAMED_MAX + 1;
const packages = Array.from({ length: PLACES }, (_, at) => packageOf(`p${at}`));
/** ids of `user0@example.com` and so on */
let people: string[];
let group: string;

beforeAll(async () => {
  await governance.deployments.apply(site.world.system, undefined);
  people = await addScimUsers(site.world, PLACES * IDS_NAMED_MAX);
  group = (await scim.groups.create(caller, { displayName: "Team <b>", members: membersOf([]) }, {})).id;
  await publish({ p0: { user_ids: people.slice(0, 20) } });
});
afterEach(async () => {
  const draft = governance.drafts.own(admin.actor);
  if (draft) await governance.drafts.discard(admin.actor, draft.id);
});

type Audiences = Record<string, { user_ids?: string[]; group_ids?: string[] }>;
const audiencesOf = (audiences: Audiences) =>
  Object.fromEntries(
    Object.entries(audiences).map(([id, ids]) => [id, { scope: "users" as const, user_ids: [], ...ids }]),
  );
async function publish(audiences: Audiences): Promise<void> {
  const { id: baseRevision } = governance.revisions.inForce(organizationId);
  const packageAudiences = audiencesOf(audiences);
  await governance.publishing.publishExtensions(admin.actor, { baseRevision, packages, packageAudiences });
}
const save = (audiences: Audiences) =>
  governance.drafts.saveExtensions(
    admin.actor,
    { version: 0 },
    { packages, packageAudiences: audiencesOf(audiences) },
  );

/** @returns the rows of the changes: place, before and after */
const rowsIn = (html: string): string[][] =>
  [...html.matchAll(/<tr><td data-label="Place">(.*?)<\/tr>/gs)].map(([row]) =>
    [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = ""]) => cell.replaceAll(/<[^>]*>/g, "")),
  );

test("CON-55 a review names people and groups, those that change first, and counts the others", async () => {
  await save({ p0: { user_ids: [...people.slice(0, 20), ...people.slice(30, 32)], group_ids: [group] } });
  const { html } = await browser.visit("/console/policy/review");
  const rows = rowsIn(html);
  const first = Array.from({ length: 8 }, (_, at) => `user${at}@example.com`);
  expect(rows).toContainEqual([
    "Who gets p0: people",
    expect.stringMatching(/^user0@example\.com, .*user9@example\.com and 10 more$/),
    `user30@example.com, user31@example.com, ${first.join(", ")} and 12 more`,
  ]);
  expect(rows).toContainEqual(["Who gets p0: groups", expect.anything(), "Team &lt;b&gt;"]);
  for (const id of [group, people[0] ?? ""]) expect(rows.flat().join()).not.toContain(id);
});

test("CON-55 the history and a difference name the people of an audience, and its scope in words", async () => {
  const before = governance.revisions.inForce(organizationId).sequence;
  await publish({});
  const pages = [
    `/console/policy/history/${before + 1}`,
    `/console/policy/diff?from=${before}&to=${before + 1}`,
  ];
  for (const path of pages) {
    const rows = rowsIn((await browser.visit(path)).html);
    expect(rows).toContainEqual(["Who gets p0", "only these people and groups", "everybody"]);
    expect(rows).toContainEqual([
      "Who gets p0: people",
      expect.stringContaining("user0@example.com"),
      "removed",
    ]);
  }
  await publish({ p0: { user_ids: people.slice(0, 20) } });
});

test("CON-53 a merge names the people of its conflicts, those that differ first", async () => {
  await save({ p0: { user_ids: [...people.slice(0, 20), ...people.slice(30, 31)] } });
  await publish({ p0: { user_ids: [...people.slice(0, 20), ...people.slice(31, 32)] } });
  const review = await browser.visit("/console/policy/review");
  const { html } = await browser.submit(formTo(review, "/console/policy/merge"), {});
  const text = html.replaceAll(/<[^>]*>/g, "");
  expect(text).toContain("Published: user31@example.com, user0@example.com");
  expect(text).toContain("Draft: user30@example.com, user0@example.com");
  expect(text).toContain("and 11 more");
  for (const id of people.slice(0, 32)) expect(text).not.toContain(id);
  await publish({ p0: { user_ids: people.slice(0, 20) } });
});

test("CON-55 a page names a limited number of people, and counts those of the other places", async () => {
  const of = (at: number) => people.slice(at * IDS_NAMED_MAX, (at + 1) * IDS_NAMED_MAX);
  await save(Object.fromEntries(packages.map(({ id }, at) => [id, { user_ids: of(at) }])));
  const rows = rowsIn((await browser.visit("/console/policy/review")).html);
  const after = rows.filter(([place = ""]) => place.endsWith(": people")).map(([, , text]) => text);
  expect(after).toHaveLength(PLACES);
  expect(after.filter((text) => text === `${IDS_NAMED_MAX} people`).length).toBeGreaterThan(0);
  expect(after.filter((text) => text?.includes("@"))).toHaveLength(PLACES - 1);
});
