// Random users, groups and filters for the properties of searching: few texts, so that filters often match.
import fc from "fast-check";
import type { ScimObject, ScimValue } from "../../src/domain/scim/model.ts";
import { resolvePath } from "../../src/domain/scim/schema/attribute-path.ts";
import {
  type Attribute,
  ENTERPRISE_SCHEMA,
  RESOURCE_TYPE,
  USER_SCHEMA,
} from "../../src/domain/scim/schema/schema.ts";
import { ENTERPRISE_USER, type ResourceTypeName } from "../../src/domain/scim/wire.ts";

/** Includes texts that are special for SQL, JSON and case folding. */
export const TEXTS = [
  ...["a", "A", "ab", "b", "_a", " a", "Straße", "STRASSE", "İ", "ﬁ", "work", "home", "%", "\\", "a\\b"],
  ...["x' OR 1=1 --", '"; DROP TABLE users', "$.title", "+?", "?", "NULL", "null", "true", "0", "1", "12"],
  ...["a\u0000b", "\u0000", "\u{10ffff}", "a\u{10ffff}", "\ud7ff", "\ue000", "\uffff", "😀", "😀b"],
];
const anyText = fc.constantFrom(...TEXTS);

/** Some of these parts. */
const someOf = (parts: readonly (readonly [string, fc.Arbitrary<ScimValue>])[]): fc.Arbitrary<ScimObject> =>
  fc
    .record(Object.fromEntries(parts), { requiredKeys: [] })
    .map((found) =>
      Object.fromEntries(
        Object.entries(found).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      ),
    );

const isAssigned = (value: ScimObject): boolean => Object.keys(value).length > 0;

const subsOf = ({ subAttributes = [] }: Attribute): Attribute[] =>
  subAttributes.filter(({ filterable }) => filterable);

/** All other returned attributes are computed. */
const storedSubsOf = (attribute: Attribute): Attribute[] =>
  subsOf(attribute).filter(({ mutability }) => mutability === "readWrite");

const valuesOf = (attribute: Attribute): fc.Arbitrary<ScimValue> => {
  if (attribute.type === "boolean") return fc.boolean();
  if (attribute.type !== "complex") return anyText;
  const single = someOf(storedSubsOf(attribute).map((sub) => [sub.name, valuesOf(sub)]));
  const assigned = single.filter(isAssigned);
  return attribute.multiValued ? fc.array(assigned, { minLength: 1, maxLength: 3 }) : assigned;
};

const ELSEWHERE = ["groups", "userName", "active", "emails"];
const partsOf = (attributes: readonly Attribute[]): fc.Arbitrary<ScimObject> =>
  someOf(
    attributes.filter(({ name }) => !ELSEWHERE.includes(name)).map((each) => [each.name, valuesOf(each)]),
  );

const emails = fc.array(
  fc.record(
    { value: anyText, type: anyText, display: anyText, primary: fc.boolean() },
    { requiredKeys: ["value"] },
  ),
  { minLength: 1, maxLength: 3 },
);

const docs: fc.Arbitrary<ScimObject[]> = fc
  .array(
    fc.tuple(
      partsOf(USER_SCHEMA.attributes),
      fc.record({ active: fc.boolean(), emails }, { requiredKeys: ["active"] }),
      fc.option(partsOf(ENTERPRISE_SCHEMA.attributes).filter(isAssigned), { nil: undefined }),
    ),
    { maxLength: 8 },
  )
  .map((people) =>
    people.map(([core, own, extension], at) => ({
      ...core,
      ...own,
      userName: `${TEXTS[at]}${at}`,
      ...(extension && { [ENTERPRISE_USER]: extension }),
      ...(at % 2 === 0 && { externalId: `${TEXTS[at]}` }),
    })),
  );

/** Every path that a filter may name. */
export const pathsOf = (type: ResourceTypeName): string[] => {
  const { core, extensions } = RESOURCE_TYPE[type];
  const common = ["id", "externalId", "meta", "meta.created", "meta.lastModified", "meta.resourceType"];
  const named = [
    ...core.attributes.map((attribute) => ({ prefix: "", attribute })),
    ...extensions.flatMap(({ id, attributes }) =>
      attributes.map((attribute) => ({ prefix: `${id}:`, attribute })),
    ),
  ];
  const own = named.flatMap(({ prefix, attribute }) => [
    `${prefix}${attribute.name}`,
    ...subsOf(attribute).map(({ name }) => `${prefix}${attribute.name}.${name}`),
  ]);
  return [...common, ...own];
};

/** A condition that the attribute's type allows, as text. */
const testOf = (name: string, { type, subAttributes }: Attribute): fc.Arbitrary<string> => {
  const compared = type === "complex" ? subAttributes?.find((sub) => sub.name === "value") : { type };
  const presence = fc.constantFrom(`${name} pr`, `${name} eq null`, `${name} ne null`);
  if (!compared) return presence;
  const [operators, literals] = literalsOf(compared.type);
  const comparison = fc
    .tuple(fc.constantFrom(...operators), literals)
    .map(([operator, literal]) => `${name} ${operator} ${JSON.stringify(literal)}`);
  return fc.oneof({ weight: 1, arbitrary: presence }, { weight: 4, arbitrary: comparison });
};

const literalsOf = (type: string): [string[], fc.Arbitrary<unknown>] => {
  const all = ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"];
  if (type === "boolean") return [["eq", "ne"], fc.constantFrom(true, false, "True", "false")];
  if (type === "binary") return [["eq", "ne"], anyText];
  if (type === "dateTime") {
    const instants = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2025-12-31T00:00:00+05:00"];
    return [["eq", "ne", "gt", "ge", "lt", "le"], fc.constantFrom(...instants)];
  }
  return [all, fc.oneof(anyText, fc.constant(""))];
};

export const attributeAt = (type: ResourceTypeName, name: string): Attribute => {
  const path = resolvePath(type, name);
  if (!path?.attribute) throw new Error(`no ${name}`);
  return path.sub ?? path.attribute;
};

/** Short ones: a mistake shows with few conditions, and a filter has limits. */
const joined = (parts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.letrec<{ filter: string; term: string }>((tie) => ({
    term: fc.oneof(
      { maxDepth: 2, depthSize: "small" },
      { weight: 3, arbitrary: parts },
      { weight: 1, arbitrary: tie("filter").map((inner) => `(${inner})`) },
      { weight: 1, arbitrary: tie("filter").map((inner) => `not (${inner})`) },
    ),
    filter: fc
      .array(fc.tuple(tie("term"), fc.constantFrom("and", "or")), { minLength: 1, maxLength: 3 })
      .map((terms) => terms.map(([term, joint], at) => (at === 0 ? term : `${joint} ${term}`)).join(" ")),
  })).filter;

const elementOf = (type: ResourceTypeName, name: string): fc.Arbitrary<string> => {
  const subs = subsOf(attributeAt(type, name));
  const inner = joined(fc.oneof(...subs.map((sub) => testOf(sub.name, sub))));
  const behind = fc.oneof(...subs.map((sub) => testOf(`.${sub.name}`, sub)));
  return fc
    .tuple(inner, fc.option(behind, { nil: "" }))
    .filter(([, tested]) => !tested.includes("null"))
    .map(([filter, tested]) => `${name}[${filter}]${tested}`);
};

const filtersOf = (type: ResourceTypeName): fc.Arbitrary<string> => {
  const paths = pathsOf(type);
  const tests = paths.map((name) => testOf(name, attributeAt(type, name)));
  const complex = paths.filter((name) => attributeAt(type, name).type === "complex");
  const elements = complex.filter((name) => name !== "meta").map((name) => elementOf(type, name));
  const likely = ["userName", "displayName", "externalId", "emails"].filter((name) => paths.includes(name));
  const lookups = likely.map((name) => testOf(name, attributeAt(type, name)));
  return joined(fc.oneof(fc.oneof(...tests), fc.oneof(...elements), fc.oneof(...lookups)));
};

export const FILTERS = { User: filtersOf("User"), Group: filtersOf("Group") };

export interface Population {
  people: ScimObject[];
  /** which of the people, by place, are in which group */
  groups: number[][];
}
export const populations: fc.Arbitrary<Population> = fc.record({
  people: docs,
  groups: fc.array(fc.array(fc.nat(7), { maxLength: 4 }), { maxLength: 4 }),
});
