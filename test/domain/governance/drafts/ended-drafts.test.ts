// Drafts that ended before their author noticed, and drafts whose author has left.
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { users } from "../../../../src/domain/identity/tables.ts";
import { managedText, refusalOf } from "../governance-world.ts";
import { createDraftWorld } from "./draft-world.ts";

test("CON-51 a publication after a concurrent discard reports that the draft has ended", async () => {
  await using world = await createDraftWorld();
  const { drafts, draftPublishing } = world.governance;
  const { id: draft, version } = await drafts.savePolicy(
    world.ana,
    { version: 0 },
    managedText({ required: true }),
  );
  const publishing = refusalOf(() => draftPublishing.publish(world.ana, { draft, version }));
  await drafts.discard(world.ana, draft);
  expect(await publishing).toMatchObject({ reason: "policy_draft.none" });
  expect(world.count()).toBe(1);
});

test("CON-51 saving an ended draft reports the end, also if the draft ends during the save", async () => {
  await using world = await createDraftWorld();
  const { drafts } = world.governance;
  const text = managedText({ required: true });
  const save = (version: number) => refusalOf(() => drafts.savePolicy(world.ana, { version }, text));
  const first = await drafts.savePolicy(world.ana, { version: 0 }, text);
  const saving = save(first.version);
  await drafts.discard(world.ana, first.id);
  const ended = {
    reason: "policy_draft.changed",
    message: expect.stringContaining("published or discarded"),
  };
  expect(await saving).toMatchObject(ended);
  expect(await save(first.version)).toMatchObject(ended);
  const unknown = { version: 0, baseRevision: crypto.randomUUID() };
  expect(await refusalOf(() => drafts.saveMcp(world.ana, unknown, {}))).toMatchObject(ended);
  const second = await drafts.savePolicy(world.ana, { version: 0 }, text);
  const elsewhere = { message: expect.stringContaining("saved elsewhere") };
  expect([second.version, await save(first.version)]).toEqual([
    first.version + 1,
    expect.objectContaining(elsewhere),
  ]);
});

test.each([{ role: "member" as const }, { status: "suspended" as const }])(
  "CON-52 the review of a shared draft warns that its author is %j, and it can be published",
  async (change) => {
    await using world = await createDraftWorld();
    const { drafts, draftPublishing } = world.governance;
    const draft = await drafts.savePolicy(world.ana, { version: 0 }, managedText({ required: true }));
    const shared = await drafts.share(world.ana, draft, true);
    expect((await draftPublishing.review(world.ben, shared)).warnings).toEqual([]);
    await world.world.db.write((tx) =>
      tx.update(users).set(change).where(eq(users.id, shared.ownerId)).run(),
    );
    const { warnings, problems } = await draftPublishing.review(world.ben, shared);
    expect({ warnings, problems }).toEqual({
      warnings: [{ pointer: "", detail: "ana@x.org is no longer an active administrator" }],
      problems: [],
    });
    const { isPublished } = await draftPublishing.publish(world.ben, {
      draft: shared.id,
      version: shared.version,
    });
    expect(isPublished).toBe(true);
  },
);
