// What an author is told about a draft that somebody discarded while it was published.
import { expect, test } from "bun:test";
import { managedText, refusalOf } from "../governance-world.ts";
import { createDraftWorld } from "./draft-world.ts";

test("CON-51 a publication that loses against a discard says that the draft has ended", async () => {
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

test("CON-51 a save of a draft that ended says so, also if it ends during the save", async () => {
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
  const second = await drafts.savePolicy(world.ana, { version: 0 }, text);
  const elsewhere = { message: expect.stringContaining("saved elsewhere") };
  expect([second.version, await save(first.version)]).toEqual([
    first.version + 1,
    expect.objectContaining(elsewhere),
  ]);
});
