// Reading revisions: what is cached, how many are listed, two processes, and gateway mode turned on and off.
import { expect, test } from "bun:test";
import {
  DOCUMENT_BYTES_MAX,
  REVISIONS_LISTED_MAX,
  type Revision,
} from "../../../../src/domain/governance/model.ts";
import {
  type Change,
  diffDocuments,
  diffRevisions,
} from "../../../../src/domain/governance/publishing/diff.ts";
import {
  REVISIONS_KEPT_MAX,
  type RevisionPage,
  Revisions,
} from "../../../../src/domain/governance/reading/revisions.ts";
import {
  createGovernance,
  type GovernanceSettings,
  runAtOnce,
} from "../../../../src/domain/governance/service.ts";
import { governanceRevisions } from "../../../../src/domain/governance/tables.ts";
import { userGroupsIn } from "../../../../src/domain/scim/service.ts";
import { openDatabase } from "../../../../src/platform/database/database.ts";
import {
  createGovernanceWorld,
  type GovernanceWorld,
  managedText,
  packageOf,
  refusalOf,
} from "../governance-world.ts";

/** The policy in another process on the same data directory. */
function elsewhere(world: GovernanceWorld, settings: Partial<GovernanceSettings> = {}) {
  const { audit, clock, ids, file } = world.world;
  const db = openDatabase(file);
  const { identity, catalog, harnesses } = world.domain;
  const governance = createGovernance({
    db,
    clock,
    ids,
    audit,
    identity,
    catalog,
    harnesses,
    userGroups: userGroupsIn(db),
    runTask: runAtOnce,
    settings: {
      gatewayType: undefined,
      serverVersion: "1.0.0",
      presignUrl: () => undefined,
      requiresSecondAdministrator: () => false,
      ...settings,
    },
  });
  return { governance, [Symbol.asyncDispose]: () => db.close() };
}

test("lists the newest revisions up to the limit", async () => {
  await using world = await createGovernanceWorld();
  const first = world.inForce();
  const copies = (count: number) =>
    world.world.db.write((tx) => {
      for (let copy = 0; copy < count; copy++) {
        const row = { ...first, sequence: undefined, id: world.world.ids.uuid(), comment: String(copy) };
        tx.insert(governanceRevisions)
          .values({ ...row, document: JSON.stringify(first.document), audiences: "{}" })
          .run();
      }
    }, "governance");
  await copies(REVISIONS_LISTED_MAX - 2);
  expect(world.count()).toBe(REVISIONS_LISTED_MAX - 1);
  await copies(1);
  expect(world.count()).toBe(REVISIONS_LISTED_MAX);
  await copies(1);
  const { organizationId } = world.world;
  const { revisions } = world.governance;
  const listed = revisions.list(organizationId);
  expect(listed).toHaveLength(REVISIONS_LISTED_MAX);
  expect(listed[0]?.sequence).toBe(REVISIONS_LISTED_MAX + 1);
  const numbers = (query: RevisionPage) =>
    revisions.page(organizationId, query).map(({ sequence }) => sequence);
  expect(numbers({})).toHaveLength(REVISIONS_LISTED_MAX);
  expect(numbers({ cursor: listed.at(-1)?.id })).toEqual([1]);
  expect(numbers({ cursor: "3", limit: "1" })).toEqual([2]);
  expect(numbers({ cursor: "1" })).toEqual([]);
  expect(
    await refusalOf(() => revisions.page(organizationId, { cursor: "nobody", limit: "101" })),
  ).toMatchObject({
    reason: "governance.bad_page",
    pointers: ["/limit", "/cursor"],
  });
});

test("keeps a limited number of revisions in memory and evicts the least recently used first", async () => {
  await using world = await createGovernanceWorld();
  const { organizationId, db } = world.world;
  const published: Revision[] = [world.inForce()];
  for (let ttl = 1; ttl <= REVISIONS_KEPT_MAX; ttl++)
    published.push(await world.publish({ ttl_seconds: ttl }));
  const revisions = new Revisions(db);
  const read = ({ id }: Revision) => revisions.find(organizationId, id);
  const [oldest, ...others] = published.map((revision) => ({ revision, object: read(revision) }));
  expect(others.every(({ revision, object }) => read(revision) === object)).toBe(true);
  expect(oldest && read(oldest.revision)).not.toBe(oldest?.object);
  expect(oldest && read(oldest.revision)).toEqual(oldest?.object);
});

test("a publication of another process is current here immediately, and two processes cannot both win", async () => {
  await using world = await createGovernanceWorld();
  await using other = elsewhere(world);
  const { organizationId } = world.world;
  const baseRevision = world.inForce().id;
  const publication = (ttl: number) => ({ baseRevision, managedYaml: managedText({ ttl_seconds: ttl }) });
  const settled = await Promise.allSettled([
    world.governance.publishing.publishPolicy(world.admin, publication(1)),
    other.governance.publishing.publishPolicy(world.admin, publication(2)),
  ]);
  expect(settled.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(world.governance.revisions.current(organizationId)?.id).toBe(
    other.governance.revisions.current(organizationId)?.id ?? "",
  );
  expect(world.count()).toBe(2);
});

test("gateway mode enters and leaves the policy at a start, without a change of the file", async () => {
  await using world = await createGovernanceWorld();
  await using on = elsewhere(world, { gatewayType: "litellm" });
  const start = (governance: typeof on.governance) =>
    governance.deployments.apply(world.world.system, undefined);
  expect(await start(on.governance)).toMatchObject({ outcome: "deployed" });
  expect(world.inForce().document).toMatchObject({
    contract_version: 3,
    required_capabilities: ["gateway_inference_jwt"],
    gateway: { type: "litellm", auth_style: "bearer" },
  });
  expect(await start(on.governance)).toMatchObject({ outcome: "unchanged" });
  const off = await start(world.governance);
  expect(off.outcome).toBe("deployed");
  expect(world.inForce().document.gateway).toBeUndefined();
  expect(world.inForce().document.required_capabilities).toBeUndefined();
});

test("an operator's command without the gateway settings keeps gateway mode on", async () => {
  await using world = await createGovernanceWorld();
  await using on = elsewhere(world, { gatewayType: "litellm" });
  await on.governance.deployments.apply(world.world.system, undefined);
  const { documents, publishing } = world.governance;
  const source = { text: "{revision: x, required: true}", variable: () => undefined };
  const plan = documents.plan(world.world.organizationId, source);
  const applied = await documents.apply(world.operator, plan, { comment: undefined });
  expect(applied.document.gateway).toEqual({ type: "litellm", auth_style: "bearer" });
  const first = world.governance.revisions.named(world.world.organizationId, "1");
  const back = await publishing.rollback(world.operator, { to: first.id, baseRevision: applied.id });
  expect(back.document.gateway).toEqual({ type: "litellm", auth_style: "bearer" });
});

test("a printed policy can be applied again in gateway mode; another gateway block is refused", async () => {
  await using world = await createGovernanceWorld();
  await using on = elsewhere(world, { gatewayType: "litellm" });
  await on.governance.deployments.apply(world.world.system, undefined);
  const { documents, views } = world.governance;
  const { organizationId } = world.world;
  const text = await views.text(world.inForce());
  expect(text).toContain("auth_style");
  const source = { text, variable: () => undefined };
  expect(documents.plan(organizationId, source).changes).toEqual([]);
  const other = { ...source, text: text.replace("auth_style: bearer", "token: x") };
  expect(documents.check(organizationId, other)[0]).toMatchObject({ pointer: "/gateway" });
});

test("a new version of this program does not change the policy", async () => {
  const section = {
    revision: "x",
    allowed_harnesses: ["codex"],
    harnesses: { codex: { version_requirement: ">=0.145.0" } },
  };
  await using world = await createGovernanceWorld(section);
  await using newer = elsewhere(world, { serverVersion: "2.0.0" });
  const applied = { input: JSON.stringify(section), variables: {}, linesOf: async () => [] };
  const outcome = await newer.governance.deployments.apply(world.world.system, applied);
  expect(outcome).toMatchObject({ outcome: "unchanged", conflicts: [] });
  const source = { text: JSON.stringify(section), variable: () => undefined };
  expect(newer.governance.documents.plan(world.world.organizationId, source).changes).toEqual([]);
});

test("publishes a document of the maximum size and no larger one", async () => {
  await using world = await createGovernanceWorld();
  const text = "x".repeat(60_000);
  const packages = Array.from({ length: 34 }, (_, at) => packageOf(`package-${at}`, { settings: { text } }));
  const publish = (filler: number) =>
    world.governance.publishing.publishExtensions(world.admin, {
      baseRevision: world.inForce().id,
      packages: [...packages, packageOf("last", { settings: { text: "y".repeat(filler) } })],
    });
  const { document } = await publish(1);
  const room = DOCUMENT_BYTES_MAX - Buffer.byteLength(JSON.stringify(document)) + 1;
  expect(Buffer.byteLength(JSON.stringify((await publish(room - 1)).document))).toBe(DOCUMENT_BYTES_MAX - 1);
  expect(Buffer.byteLength(JSON.stringify((await publish(room)).document))).toBe(DOCUMENT_BYTES_MAX);
  expect(await refusalOf(() => publish(room + 1))).toMatchObject({
    reason: "governance.invalid",
    pointers: [""],
  });
});

test("a difference names each place once, as deep as it has a name", () => {
  const before = {
    revision: "a",
    packages: [{ id: "one", version: "1" }, { id: "two" }],
    allowed: ["a"],
    ttl: 1,
  };
  const after = {
    revision: "b",
    packages: [{ id: "one", version: "2" }, { id: "three" }],
    allowed: ["b"],
    more: {},
  };
  expect(diffDocuments(before, after)).toEqual([
    { path: "/packages/one/version", before: "1", after: "2" },
    { path: "/packages/two", before: { id: "two" } },
    { path: "/packages/three", after: { id: "three" } },
    { path: "/allowed", before: ["a"], after: ["b"] },
    { path: "/ttl", before: 1 },
    { path: "/more", after: {} },
  ]);
  const reversed: Change = { path: "/packages", order: true, before: ["one", "two"], after: ["two", "one"] };
  const changed: [object[], Change[]][] = [
    [before.packages.toReversed(), []],
    [[{ id: "new" }, ...before.packages.toReversed()], [{ path: "/packages/new", after: { id: "new" } }]],
    [
      [{ id: "two" }, { id: "one", version: "2" }],
      [{ path: "/packages/one/version", before: "1", after: "2" }],
    ],
  ];
  for (const [packages, changes] of changed)
    expect(diffDocuments(before, { ...before, packages })).toEqual([reversed, ...changes]);
});

test("a change of audiences appears in the difference, the audit log, and the refusal of a stale base", async () => {
  await using world = await createGovernanceWorld();
  const { user } = await world.signedIn("member");
  const { governance, admin } = world;
  const publish = (baseRevision: string, audiences: Record<string, { scope: "users"; user_ids: string[] }>) =>
    governance.publishing.publishExtensions(admin, {
      baseRevision,
      packages: [packageOf("one")],
      packageAudiences: audiences,
    });
  const audience = { scope: "users" as const, user_ids: [user.id] };
  const before = await publish(world.inForce().id, {});
  const after = await publish(before.id, { one: audience });
  const path = "/package_audiences/one";
  expect(diffRevisions(before, after)).toEqual([{ path, after: audience }]);
  expect(world.audited().after).toMatchObject({ changed: [path] });
  expect(await refusalOf(() => publish(before.id, {}))).toMatchObject({
    reason: "governance.stale_revision",
    pointers: [path],
  });
});
