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
