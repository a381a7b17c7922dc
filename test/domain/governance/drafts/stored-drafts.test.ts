// Cached contents of drafts: parsed once per version, for the drafts that were read last.
import { expect, test } from "bun:test";
import { DRAFTS_KEPT_MAX, StoredDrafts } from "../../../../src/domain/governance/drafts/stored-drafts.ts";
import { managedText } from "../governance-world.ts";
import { createDraftWorld } from "./draft-world.ts";

const texts = [managedText({ ttl_seconds: 60 }), managedText({ ttl_seconds: 70 })] as const;

test("a draft that was saved elsewhere or discarded is read again", async () => {
  await using world = await createDraftWorld();
  const { drafts } = world.governance;
  const stored = new StoredDrafts(world.world.db);
  const first = await drafts.savePolicy(world.ana, { version: 0 }, texts[0]);
  expect(stored.own(first.ownerId)?.document).toEqual(first.document);
  expect(stored.own(first.ownerId)?.document).toBe(stored.find(first.organizationId, first.id)?.document);
  const second = await drafts.savePolicy(world.ana, { version: 1 }, texts[1]);
  expect(stored.own(first.ownerId)).toEqual(second);
  await drafts.share(world.ana, second, true);
  expect(stored.own(first.ownerId)).toMatchObject({ version: 3, isShared: true, document: second.document });
  await drafts.discard(world.ana, first.id);
  expect(stored.own(first.ownerId)).toBeUndefined();
  const next = await drafts.savePolicy(world.ana, { version: 0 }, texts[0]);
  expect(stored.own(first.ownerId)).toEqual(next);
});

test.each([DRAFTS_KEPT_MAX - 1, DRAFTS_KEPT_MAX, DRAFTS_KEPT_MAX + 1])(
  "keeps the content of DRAFTS_KEPT_MAX of %d drafts in memory",
  async (count) => {
    await using world = await createDraftWorld();
    const stored = new StoredDrafts(world.world.db);
    const draft = await world.governance.drafts.savePolicy(world.ana, { version: 0 }, texts[0]);
    const read = () => stored.own(draft.ownerId)?.document;
    const before = read();
    for (let at = 1; at < count; at++) stored.keep({ ...draft, id: world.world.ids.uuid() });
    expect(read() === before).toBe(count <= DRAFTS_KEPT_MAX);
    expect(read()).toEqual(draft.document);
  },
);
