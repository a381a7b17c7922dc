// Worked examples of PATCH, one row for each operation. What needs stored users (unknown members, revocation, entity tags) is
// tested with users and groups.
import { expect, test } from "bun:test";
import { ScimError } from "../../../../src/domain/scim/errors.ts";
import type { ScimObject, ScimProfile } from "../../../../src/domain/scim/model.ts";
import { type GroupPatch, readGroupPatch } from "../../../../src/domain/scim/patch/patch-group.ts";
import { patchUser } from "../../../../src/domain/scim/patch/patch-user.ts";
import { ENTERPRISE_USER, PATCH_OP } from "../../../../src/domain/scim/wire.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";

const ID = "0198c0de-7a11-7c3e-9d52-4f0f6f1f2a10";
const WORK = { value: "a@w.example", type: "work", primary: true };
const HOME = { value: "a@h.example", type: "home" };
const USER: ScimObject = {
  userName: "ada@example.com",
  name: { familyName: "L", givenName: "Ada" },
  active: true,
  emails: [WORK, HOME],
};
const OTHER = { value: "o@x.example", type: "other" };
const MANAGED = { [ENTERPRISE_USER]: { manager: { value: "m1" } } };

const message = (...operations: object[]) => ({ schemas: [PATCH_OP], Operations: operations });

function outcomeOf<T>(patch: () => T): T | string {
  try {
    return patch();
  } catch (error) {
    if (error instanceof ScimError) return `${error.status} ${error.scimType} ${error.message.split(":")[0]}`;
    throw error;
  }
}

const patchedUser = (operation: object, profile: ScimProfile = "standard") =>
  outcomeOf(() => patchUser(USER, message(operation), { id: ID, profile }));

const at0 = (scimType: string) => `400 ${scimType} Operations[0]`;

test.each<[number, object, ScimObject | string]>([
  [1, { op: "Replace", path: "active", value: "False" }, { ...USER, active: false }],
  [2, { op: "replace", value: { active: false } }, { ...USER, active: false }],
  [
    3,
    {
      op: "replace",
      value: { displayName: "A", "name.givenName": "X", [`${ENTERPRISE_USER}:department`]: "D" },
    },
    {
      ...USER,
      name: { familyName: "L", givenName: "X" },
      displayName: "A",
      [ENTERPRISE_USER]: { department: "D" },
    },
  ],
  [
    4,
    { op: "replace", path: "name", value: { givenName: "X" } },
    { ...USER, name: { familyName: "L", givenName: "X" } },
  ],
  [5, { op: "add", path: "emails", value: [{ value: "A@W.Example", type: "work" }] }, USER],
  [
    6,
    { op: "add", path: "emails", value: { value: "n@w.example", type: "other", primary: true } },
    {
      ...USER,
      emails: [{ ...WORK, primary: false }, HOME, { value: "n@w.example", type: "other", primary: true }],
    },
  ],
  [
    7,
    { op: "replace", path: 'emails[type eq "WORK"].value', value: "n@w.example" },
    { ...USER, emails: [{ ...WORK, value: "n@w.example" }, HOME] },
  ],
  [8, { op: "replace", path: 'emails[type eq "other"].value', value: "o@x.example" }, at0("noTarget")],
  [
    9,
    { op: "add", path: 'emails[type eq "other"].value', value: "o@x.example" },
    { ...USER, emails: [WORK, HOME, OTHER] },
  ],
  [10, { op: "remove", path: 'emails[type eq "fax"]' }, USER],
  [11, { op: "remove" }, at0("noTarget")],
  [11, { op: "remove", path: "userName" }, at0("mutability")],
  [11, { op: "replace", path: "id", value: "z" }, at0("mutability")],
  [12, { op: "add", path: `${ENTERPRISE_USER}:manager`, value: "m1" }, { ...USER, ...MANAGED }],
  [12, { op: "add", path: `${ENTERPRISE_USER}:manager`, value: [{ value: "m1" }] }, { ...USER, ...MANAGED }],
  [12, { op: "add", path: "manager", value: "m1" }, { ...USER, ...MANAGED }],
  [
    13,
    {
      op: "replace",
      path: "emails",
      value: [
        { value: "1@x.y", primary: true },
        { value: "2@x.y", primary: true },
      ],
    },
    at0("invalidValue"),
  ],
])("example %i: %j", (_, operation, outcome) => {
  expect(patchedUser(operation)).toEqual(outcome);
});

test("example 8 under the profile entra adds the e-mail", () => {
  const operation = { op: "replace", path: 'emails[type eq "other"].value', value: "o@x.example" };
  expect(patchedUser(operation, "entra")).toEqual({ ...USER, emails: [WORK, HOME, OTHER] });
});

const KEPT = { base: "kept", add: [], remove: [] } as const;
const EMPTIED = { ...KEPT, base: "emptied" } as const;
const M = { path: "members" };

const patchedGroup = (...operations: object[]) =>
  outcomeOf(() => runSynchronously(readGroupPatch(message(...operations), { id: ID, profile: "standard" })));

test.each<[number, object[], GroupPatch | string]>([
  [14, [{ op: "replace", value: { id: ID, displayName: "New" } }], { displayName: "New", members: KEPT }],
  [
    15,
    [{ op: "Remove", ...M, value: [{ $ref: null, value: "u1" }] }],
    { members: { ...KEPT, remove: ["u1"] } },
  ],
  [15, [{ op: "remove", path: 'members[value eq "u1"]' }], { members: { ...KEPT, remove: ["u1"] } }],
  [16, [{ op: "remove", ...M }], { members: EMPTIED }],
  [16, [{ op: "replace", ...M, value: [] }], { members: EMPTIED }],
  [16, [{ op: "remove", ...M, value: [] }], { members: KEPT }],
  [
    17,
    [{ op: "add", ...M, value: [{ value: "u2" }, { value: "u3" }, { value: "u3" }] }],
    { members: { ...KEPT, add: ["u2", "u3"] } },
  ],
  [
    18,
    [
      { op: "add", ...M, value: ["u3"] },
      { op: "replace", path: "nope", value: 1 },
    ],
    "400 invalidPath Operations[1]",
  ],
  [19, [{ op: "remove", ...M, value: [{ display: "Ada" }] }], at0("invalidValue")],
  [19, [{ op: "add", ...M, value: [{ value: "ghost" }] }], { members: { ...KEPT, add: ["ghost"] } }],
  [20, [{ op: "add", ...M, value: ["u3"] }], { members: { ...KEPT, add: ["u3"] } }],
  [20, [{ op: "add", value: { members: [{ value: "u3" }] } }], { members: { ...KEPT, add: ["u3"] } }],
])("example %i: %j", (_, operations, outcome) => {
  expect(patchedGroup(...operations)).toEqual(outcome);
});
