// The order in which a bulk request is executed, and where references are found in it.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { planBulk, type Step } from "../../../../src/domain/scim/bulk/plan.ts";
import {
  addReferences,
  referencesOf,
  replaceReferences,
} from "../../../../src/domain/scim/bulk/references.ts";
import { ENTERPRISE_USER } from "../../../../src/domain/scim/wire.ts";

/** `a:b,c` creates a and refers to b and c; `:b` creates nothing. */
const operationsOf = (...texts: string[]) =>
  texts.map((text) => {
    const [creates = "", needs = ""] = text.split(":");
    return {
      text,
      creates: creates === "" ? undefined : creates,
      needs: new Set(needs.split(",").filter((name) => name !== "")),
    };
  });

const told = ({ operation, part, later }: Step<{ text: string }>): string =>
  part === "whole" ? operation.text : `${operation.text} ${part} ${[...later].sort()}`.trim();

const planOf = (...texts: string[]): string[] => planBulk(operationsOf(...texts)).map(told);

describe("the order of a bulk request", () => {
  test("is kept if references name earlier operations", () => {
    expect(planOf("a", ":a", "b:a", ":a,b")).toEqual(["a", ":a", "b:a", ":a,b"]);
  });

  test("moves an operation that refers to a later one just after it", () => {
    expect(planOf(":b", "a", "b", "c")).toEqual(["a", "b", ":b", "c"]);
  });

  test("moves an operation after the last of several it refers to", () => {
    expect(planOf(":a,b,c", "b", "a", "c")).toEqual(["b", "a", "c", ":a,b,c"]);
  });

  test("moves a whole chain after its last link", () => {
    expect(planOf("a:b", "b:c", "c:d", "d")).toEqual(["d", "c:d", "b:c", "a:b"]);
  });

  test("ignores a bulkId that no operation creates", () => {
    expect(planOf("a:ghost", "b")).toEqual(["a:ghost", "b"]);
  });

  test("creates one of two that refer to each other without the reference and adds it afterwards", () => {
    expect(planOf("a:b", "b:a")).toEqual(["a:b first b", "b:a", "a:b second b"]);
  });

  test("creates a resource that refers to itself in two steps", () => {
    expect(planOf("a:a")).toEqual(["a:a first a", "a:a second a"]);
  });

  test("leaves an operation whole if it only depends on a cycle", () => {
    expect(planOf("x:a", "a:b", "b:a", ":x")).toEqual(["a:b first b", "x:a", ":x", "b:a", "a:b second b"]);
  });

  test("breaks cycles that share a resource", () => {
    const plan = planOf("a:b,c", "b:a", "c:a");
    expect(plan).toEqual(["a:b,c first b,c", "b:a", "c:a", "a:b,c second b,c"]);
  });

  test("terminates for a cycle of a thousand", () => {
    const ring = Array.from({ length: 1_000 }, (_, at) => `n${at}:n${(at + 1) % 1_000}`);
    expect(planBulk(operationsOf(...ring))).toHaveLength(1_001);
  });

  test("attempts every operation once, after those it refers to, for any references", () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const needs = fc.subarray(names).map((chosen) => new Set(chosen));
    const operation = fc.record({ isCreation: fc.boolean(), needs });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: names.length }), (given) => {
        const operations = given.map(({ isCreation, needs }, at) => ({
          creates: isCreation ? names[at] : undefined,
          needs,
        }));
        const created = new Set<string>();
        const creatable = new Set(operations.flatMap(({ creates }) => creates ?? []));
        const finished: (typeof operations)[number][] = [];
        for (const { operation, part, later } of planBulk(operations)) {
          const needed = operation.needs.intersection(creatable);
          expect((part === "first" ? needed.difference(later) : needed).difference(created)).toEqual(
            new Set(),
          );
          if (part === "first") expect(operation.creates).toBeString();
          if (operation.creates !== undefined) created.add(operation.creates);
          if (part !== "first") finished.push(operation);
        }
        expect(finished).toHaveLength(operations.length);
        expect(new Set(finished).size).toBe(operations.length);
      }),
    );
  });
});

const IDS = new Map([
  ["ada", "id-of-ada"],
  ["grace", "id-of-grace"],
  ['quo"ted', "id-of-quoted"],
]);
const lookup = (bulkId: string) => IDS.get(bulkId);
const user = { type: "User", id: "" } as const;
const group = { type: "Group", id: "" } as const;

const inBody = (target: typeof user | typeof group, data: Record<string, unknown>) =>
  replaceReferences({ method: "POST", target, data }, lookup).data;

const inPatch = (target: typeof user | typeof group, ...Operations: unknown[]) =>
  replaceReferences({ method: "PATCH", target, data: { Operations } }, lookup).data?.Operations;

describe("references", () => {
  test("replaces references by ids in the members of a group, in every form of members", () => {
    const members = [{ value: "bulkId:ada", display: "Ada" }, "bulkId:grace", { Value: "plain" }];
    expect(inBody(group, { Members: members })).toEqual({
      Members: [{ value: "id-of-ada", display: "Ada" }, "id-of-grace", { Value: "plain" }],
    });
  });

  const manager = { value: "id-of-ada" };
  test.each([
    [
      "an object",
      { [ENTERPRISE_USER]: { manager: { value: "bulkId:ada" } } },
      { [ENTERPRISE_USER]: { manager } },
    ],
    [
      "text",
      { [ENTERPRISE_USER]: { manager: "bulkId:ada" } },
      { [ENTERPRISE_USER]: { manager: "id-of-ada" } },
    ],
    ["a list", { manager: [{ value: "bulkId:ada" }] }, { manager: [manager] }],
    [
      "a key with the URN",
      { [`${ENTERPRISE_USER}:manager`]: { value: "bulkId:ada" } },
      { [`${ENTERPRISE_USER}:manager`]: manager },
    ],
    ["a dotted key", { "manager.value": "bulkId:ada" }, { "manager.value": "id-of-ada" }],
  ])("replaces the reference to the manager given as %s by the id", (_, given, replaced) => {
    expect(inBody(user, given)).toEqual(replaced);
  });

  test("remain text where no id belongs", () => {
    const data = {
      displayName: "bulkId:ada",
      nickName: "bulkId:ada",
      emails: [{ value: "bulkId:ada" }],
      groups: [{ value: "bulkId:ada" }],
      unknown: "bulkId:ada",
      [ENTERPRISE_USER]: { department: "bulkId:ada", manager: { displayName: "bulkId:ada" } },
    };
    expect(inBody(user, data)).toEqual(data);
    expect(referencesOf({ method: "POST", target: user, data })).toEqual(new Set());
  });

  test("need their prefix: a bulkId without it is an id", () => {
    expect(inBody(group, { members: [{ value: "ada" }] })).toEqual({ members: [{ value: "ada" }] });
  });

  test("finds references in values of a PATCH with or without a path", () => {
    expect(
      inPatch(
        group,
        { op: "add", path: "members", value: [{ value: "bulkId:ada" }] },
        { OP: "Add", VALUE: { members: ["bulkId:grace"], displayName: "bulkId:ada" } },
        { op: "replace", path: "displayName", value: "bulkId:ada" },
      ),
    ).toEqual([
      { op: "add", path: "members", value: [{ value: "id-of-ada" }] },
      { OP: "Add", VALUE: { members: ["id-of-grace"], displayName: "bulkId:ada" } },
      { op: "replace", path: "displayName", value: "bulkId:ada" },
    ]);
    expect(
      inPatch(
        user,
        { op: "add", path: `${ENTERPRISE_USER}:manager`, value: "bulkId:ada" },
        { op: "add", path: "manager.value", value: "bulkId:ada" },
        { op: "add", path: ENTERPRISE_USER, value: { manager: { value: "bulkId:ada" } } },
      ),
    ).toEqual([
      { op: "add", path: `${ENTERPRISE_USER}:manager`, value: "id-of-ada" },
      { op: "add", path: "manager.value", value: "id-of-ada" },
      { op: "add", path: ENTERPRISE_USER, value: { manager: { value: "id-of-ada" } } },
    ]);
  });

  test("finds references in value filters of a PATCH after decoding escapes", () => {
    expect(
      inPatch(
        group,
        { op: "remove", path: 'members[value eq "bulkId:ada" or value eq "bulkId:quo\\"ted"]' },
        { op: "remove", path: 'members[value eq "bulkId:ghost"]' },
      ),
    ).toEqual([
      { op: "remove", path: 'members[value eq "id-of-ada" or value eq "id-of-quoted"]' },
      { op: "remove", path: 'members[value eq "bulkId:ghost"]' },
    ]);
    const emails = { op: "remove", path: 'emails[value eq "bulkId:ada"]' };
    expect(inPatch(user, emails)).toEqual([emails]);
  });

  test("searches text that does not end only once: searching at each quote would take hours", () => {
    const path = `members[value eq "bulkId:${'\\"'.repeat(200_000)}`;
    const operations = Array.from({ length: 64 }, () => ({ op: "remove", path }));
    expect(inPatch(group, ...operations)).toEqual(operations);
  });

  test("finds references in paths of operations", () => {
    const place = { method: "DELETE", target: { type: "User", id: "bulkId:ada" }, data: undefined } as const;
    expect(referencesOf(place)).toEqual(new Set(["ada"]));
    expect(replaceReferences(place, lookup).id).toBe("id-of-ada");
  });

  test("removes the elements of omitted references, and a PATCH adds them", () => {
    const data = {
      displayName: "Pair",
      members: [{ value: "bulkId:ada" }, { value: "bulkId:late" }, { value: "bulkId:late" }],
    };
    const place = { method: "POST", target: group, data } as const;
    expect(replaceReferences(place, lookup).data).toEqual({
      displayName: "Pair",
      members: [{ value: "id-of-ada" }],
    });
    expect(
      addReferences(place, (bulkId) => (bulkId === "late" ? "id-of-late" : undefined)).Operations,
    ).toEqual([{ op: "add", path: "members", value: { value: "id-of-late" } }]);
    const managed = {
      method: "POST",
      target: user,
      data: { userName: "x", [ENTERPRISE_USER]: { manager: { value: "bulkId:late" }, department: "D" } },
    } as const;
    expect(replaceReferences(managed, lookup).data).toEqual({
      userName: "x",
      [ENTERPRISE_USER]: { department: "D" },
    });
    expect(addReferences(managed, () => "id-of-late").Operations).toEqual([
      { op: "add", path: `${ENTERPRISE_USER}:manager`, value: { value: "id-of-late" } },
    ]);
  });

  test("do not reach prototypes", () => {
    const data = JSON.parse('{"__proto__":{"members":["bulkId:ada"]},"constructor":"bulkId:ada"}');
    expect(JSON.stringify(inBody(group, data))).toBe(JSON.stringify(data));
    expect(Object.getPrototypeOf(inBody(group, data))).toBe(Object.prototype);
  });
});
