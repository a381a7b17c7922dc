// Whatever members and groups are called, SQLite writes them as they are shown.
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import fc from "fast-check";
import { memberTexts } from "../../src/domain/scim/groups/member-texts-store.ts";
import { memberSlice } from "../../src/domain/scim/groups/members-store.ts";
import { locationOf } from "../../src/domain/scim/messages/messages.ts";
import { groupFrame } from "../../src/domain/scim/messages/render.ts";
import { readView } from "../../src/domain/scim/messages/view.ts";
import type { GroupRow } from "../../src/domain/scim/model.ts";
import { scimGroups, scimUsers } from "../../src/domain/scim/tables.ts";
import { groupsOfUser } from "../../src/domain/scim/users/users-store.ts";
import { addProvisionedGroup, addProvisionedUser } from "../support/content/provisioned-rows.ts";
import { createWorld } from "../support/world.ts";

const MEMBERS = 5;
const BASE_URLS = ["https://control.example.org", "http://[::1]:8080"];

const hostile = fc.constantFrom(
  '"',
  "\\",
  "\u0000",
  "\u001f",
  "\u007f",
  "\u2028",
  "',",
  "é",
  "😀",
  "}",
  "' || ''",
);
const name = fc.oneof(
  fc.constant(null),
  fc.string({ unit: "binary" }),
  fc.array(hostile).map((pieces) => pieces.join("")),
);

test("members are written by SQLite as they are composed one by one, to the byte", async () => {
  await using world = await createWorld();
  const ids: string[] = [];
  for (let at = 0; at < MEMBERS; at += 1) ids.push(await addProvisionedUser(world, `user${at}@example.com`));
  const groupId = await addProvisionedGroup(world, "Engineering", { members: ids });
  const row: GroupRow = {
    id: groupId,
    externalId: null,
    displayName: "Engineering",
    memberCount: MEMBERS,
    version: 1,
    createdAtMs: 0,
    updatedAtMs: 0,
  };
  const names = fc.array(name, { minLength: MEMBERS, maxLength: MEMBERS });
  await fc.assert(
    fc.asyncProperty(names, fc.constantFrom(...BASE_URLS), async (displays, baseUrl) => {
      await world.db.write((tx) => {
        for (const [at, id] of ids.entries())
          tx.update(scimUsers)
            .set({ display: displays[at] ?? null })
            .where(eq(scimUsers.accountId, id))
            .run();
      });
      const asked = { groupId, after: "", limit: MEMBERS - 1 };
      const { member } = groupFrame(row, readView("Group", {}), baseUrl);
      const members = memberSlice(world.db.read, asked);
      const written = memberTexts(world.db.read, { ...asked, usersUrl: locationOf("User", "", baseUrl) });
      expect(written).toEqual({
        text: members.map((one) => member?.(one)).join(","),
        last: ids.at(-2),
      });
    }),
  );
});

test("the groups of a user are shown by SQLite whatever they are called", async () => {
  await using world = await createWorld();
  const id = await addProvisionedUser(world, "ada@example.com");
  const groupId = await addProvisionedGroup(world, "Engineering", { members: [id] });
  const called = name.map((text) => text ?? "");
  await fc.assert(
    fc.asyncProperty(called, fc.constantFrom(...BASE_URLS), async (displayName, baseUrl) => {
      await world.db.write((tx) => void tx.update(scimGroups).set({ displayName }).run());
      const groupsUrl = locationOf("Group", "", baseUrl);
      const written = groupsOfUser(world.db.read, { id, groupsUrl });
      expect(JSON.parse(written ?? "")).toEqual([
        { value: groupId, $ref: locationOf("Group", groupId, baseUrl), display: displayName, type: "direct" },
      ]);
    }),
  );
});
