// Whatever a user holds, the fast way of showing all of it and the general way give the same text.
import { test } from "bun:test";
import fc from "fast-check";
import { userJson } from "../../src/domain/scim/messages/render.ts";
import { readView } from "../../src/domain/scim/messages/view.ts";
import { arrangedUser } from "../../src/domain/scim/schema/document.ts";
import { ENTERPRISE_USER } from "../../src/domain/scim/wire.ts";

// Pieces of the documents' own structure, to be mistaken for it.
const hostile = fc.constantFrom(
  '"emails":[',
  ',"active":false',
  '"userName":"',
  `,"${ENTERPRISE_USER}":{`,
  '"manager":{"value":"',
  '"}',
  "\\",
  "$&",
  "$ref",
  ",",
  "\u2028",
  "é",
);
const text = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.array(hostile, { minLength: 1 }).map((pieces) => pieces.join("")),
);

const doc = fc
  .record(
    {
      userName: text,
      externalId: text,
      active: fc.boolean(),
      displayName: text,
      name: fc.record({ givenName: text, familyName: text }, { requiredKeys: ["givenName"] }),
      emails: fc.array(fc.record({ value: text, primary: fc.boolean() }), { minLength: 1 }),
      roles: fc.array(fc.record({ value: text }), { minLength: 1 }),
      [ENTERPRISE_USER]: fc
        .record(
          { department: text, manager: fc.record({ value: text, $ref: text }, { requiredKeys: ["value"] }) },
          { requiredKeys: [] },
        )
        .filter((extension) => Object.keys(extension).length > 0),
    },
    { requiredKeys: ["userName", "active"] },
  )
  .map(arrangedUser);

const named = fc.record({ id: fc.uuid(), display: text });
const group = fc.record({ value: fc.uuid(), $ref: fc.webUrl(), display: text, type: fc.constant("direct") });
const row = fc.record({ own: doc, groups: fc.array(group) }).map(({ own, groups }) => ({
  id: "u1",
  version: 1,
  createdAtMs: 0,
  updatedAtMs: 1,
  doc: JSON.stringify(own),
  groups: JSON.stringify(groups),
}));

const whole = readView("User", {});
// Nothing is left out by it, but it goes the general way.
const general = readView("User", { excludedAttributes: ["password"] });

test("both ways of rendering a user agree to the byte", () => {
  const found = fc.option(named, { nil: undefined });
  fc.assert(
    fc.property(row, found, (user, manager) => {
      const shown = { manager, baseUrl: "https://control.example.org" };
      return userJson(user, { ...shown, view: whole }) === userJson(user, { ...shown, view: general });
    }),
    { numRuns: 2_000 },
  );
});
