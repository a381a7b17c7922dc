// Who gets the same document, that it is built once, what is cached, and what is not a policy.
import { describe, expect, test } from "bun:test";
import { AudienceGroups } from "../../../../src/domain/governance/delivery/audience-groups.ts";
import type { PackageAudience, Revision } from "../../../../src/domain/governance/model.ts";
import { packageOf } from "../governance-world.ts";

const ID = "01890000-0000-7000-8000-000000000000";
const policy = {
  revision: ID,
  contract_version: 1,
  required: false,
  allowed_harnesses: [],
  harnesses: {},
  packages: [],
};

function revisionOf(audiences: Record<string, string[]>, document: object = policy): Revision {
  const packages = Object.keys(audiences).map((id) => packageOf(id));
  const selected = Object.entries(audiences).map(([id, user_ids]): [string, PackageAudience] => [
    id,
    { scope: "users", user_ids },
  ]);
  return {
    sequence: 1,
    id: ID,
    organizationId: "one",
    document: JSON.parse(JSON.stringify({ ...document, ...(packages.length > 0 && { packages }) })),
    audiences: Object.fromEntries(selected),
    origin: "dashboard",
    authorId: null,
    authorLabel: "test",
    comment: null,
    summary: null,
    createdAtMs: 0,
  };
}

const NO_GROUPS = { of: () => [] };

const shown = (groups: AudienceGroups, user: string): string =>
  groups
    .viewOf(user)
    .document.packages.map(({ id }) => id)
    .join();

describe("users who may see the same packages", () => {
  const groups = new AudienceGroups(
    revisionOf({ a: ["ana", "ben"], b: ["ben", "cleo"], c: ["ana", "ben"] }),
    NO_GROUPS,
  );

  test("get the same object, regardless of who asks first", () => {
    const other = new AudienceGroups(revisionOf({ a: ["ben", "ana"], b: ["ana", "ben"] }), NO_GROUPS);
    expect(other.viewOf("ben")).toBe(other.viewOf("ana"));
    expect(groups.viewOf("dora")).toBe(groups.viewOf("emil"));
    expect(groups.viewOf("ana")).toBe(groups.viewOf("ana"));
  });

  test("get the packages of their audiences", () => {
    const users = ["ana", "ben", "cleo", "dora"];
    expect(users.map((user) => shown(groups, user))).toEqual(["a,c", "a,b,c", "b", ""]);
  });

  test("get the bytes of that document", () => {
    const { bytes, document } = groups.viewOf("cleo");
    expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual(JSON.parse(JSON.stringify(document)));
  });
});

describe("the tag of a user's document", () => {
  const users = ["ana", "ben", "cleo", "dora", "emil"];
  const audiences = { a: ["ana", "ben"], b: ["ben", "cleo"], c: ["ana", "ben"], d: ["emil"] };

  test("is equal for two users exactly if the bytes are equal", () => {
    const groups = new AudienceGroups(revisionOf(audiences), NO_GROUPS);
    const bytesOf = (user: string) => new TextDecoder().decode(groups.viewOf(user).bytes);
    for (const one of users)
      for (const other of users)
        expect(groups.tagOf(one) === groups.tagOf(other)).toBe(bytesOf(one) === bytesOf(other));
  });

  test("has the same name after a restart, and a different name for a different document", () => {
    const names = (document?: object) => {
      const groups = new AudienceGroups(revisionOf(audiences, document), NO_GROUPS);
      return users.map((user) => groups.tagOf(user).name);
    };
    expect(names()).toEqual(names());
    const others = new Set(names({ ...policy, required: true }));
    expect(names().filter((name) => others.has(name))).toEqual([]);
  });
});

describe("cached documents", () => {
  const audiences = { a: ["ana"], b: ["ben"], c: ["cleo"] };
  const sizeOf = (user: string) =>
    new AudienceGroups(revisionOf(audiences), NO_GROUPS).viewOf(user).bytes.byteLength;
  const three = sizeOf("ana") + sizeOf("ben") + sizeOf("cleo");

  /** @returns the users whose document is still the same after all of them fetched it */
  function keptOf(bytesMax: number): string[] {
    const groups = new AudienceGroups(revisionOf(audiences), NO_GROUPS, bytesMax);
    const users = ["ana", "ben", "cleo"];
    const before = users.map((user) => groups.viewOf(user));
    return users.filter((user, at) => groups.viewOf(user) === before[at]);
  }

  test("limits the cached documents by their bytes", () => {
    expect(keptOf(three + 1)).toEqual(["ana", "ben", "cleo"]);
    expect(keptOf(three)).toEqual(["ana", "ben", "cleo"]);
    expect(keptOf(three - 1)).not.toContain("ana");
  });

  test("keeps the most recently used documents", () => {
    const groups = new AudienceGroups(revisionOf(audiences), NO_GROUPS, three - 1);
    const ana = groups.viewOf("ana");
    const ben = groups.viewOf("ben");
    groups.viewOf("ana");
    groups.viewOf("cleo");
    expect(groups.viewOf("ana")).toBe(ana);
    expect(groups.viewOf("ben")).not.toBe(ben);
  });

  test("include the requested one at any size", () => {
    const groups = new AudienceGroups(revisionOf(audiences), NO_GROUPS, 1);
    expect(groups.viewOf("ana")).toBe(groups.viewOf("ana"));
    expect(shown(groups, "ben")).toBe("b");
  });
});

describe("a document", () => {
  test("accepts a document with the members of every policy", () => {
    expect(shown(new AudienceGroups(revisionOf({}), NO_GROUPS), "ana")).toBe("");
  });

  test.each(Object.keys(policy))("reports a document without %s as a damaged row", (member) => {
    const damaged = Object.fromEntries(Object.entries(policy).filter(([name]) => name !== member));
    expect(() => new AudienceGroups(revisionOf({}, damaged), NO_GROUPS)).toThrow("is a policy");
  });

  test("reports a document of another revision as a damaged row", () => {
    expect(() => new AudienceGroups(revisionOf({}, { ...policy, revision: "other" }), NO_GROUPS)).toThrow(
      "is a policy",
    );
  });
});
