// Random PATCH sequences compared with a simple model, written only from RFC 7644 section 3.5.2 and the SCIM
// requirements: it changes whole objects and whole member lists in place, one operation after another. A failure prints
// seed and path. Pass both to `fc.assert` to reproduce it. The sequence is shrunk to the shortest one that fails.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { ScimError } from "../../src/domain/scim/errors.ts";
import { readUser } from "../../src/domain/scim/messages/read-resource.ts";
import type { ScimObject, ScimProfile } from "../../src/domain/scim/model.ts";
import { readGroupPatch } from "../../src/domain/scim/patch/patch-group.ts";
import { patchUser } from "../../src/domain/scim/patch/patch-user.ts";
import { runSynchronously } from "../../src/platform/steps.ts";

const SEQUENCES = 1_000;
const STEPS_MAX = 8;
/** on a busy machine; a quiet one takes a few seconds */
const TIME_LIMIT_MS = 60_000;
const ID = "0198c0de-7a11-7c3e-9d52-4f0f6f1f2a10";
const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

type Op = "add" | "replace" | "remove";
type Scalar = string | boolean;
type Element = Record<string, Scalar>;
type ListName = "emails" | "roles" | "addresses";
type PartsName = "name" | typeof ENTERPRISE;

/** Joined tests for equality. */
interface Filter {
  join: "and" | "or";
  parameters: readonly { sub: string; literal: Scalar }[];
}

/** Values of a list; without a filter all values. */
interface Selection {
  kind: "selection";
  name: ListName;
  filter: Filter | undefined;
  /** the sub-attribute to change; undefined for whole values */
  sub: string | undefined;
  /** the values to set */
  value: Element | null;
}

/** The change; a null value means unassigned. */
type What =
  | { kind: "simple"; name: string; value: Scalar | null }
  | { kind: "part"; of: PartsName; sub: string; value: string | null }
  | { kind: "parts"; of: PartsName; value: Readonly<Record<string, string | null>> | null }
  | { kind: "list"; name: ListName; value: readonly Element[] | null }
  | Selection;

interface Step {
  op: Op;
  what: What;
  /** whether an addition or replacement names its target in the value, and a removal from a list sends no value */
  isShort: boolean;
}

const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 6 });
const always = <const K extends string>(name: K) => fc.constant(name);

const SUBS: Record<ListName, readonly string[]> = {
  emails: ["value", "display", "type", "primary"],
  roles: ["value", "display", "type", "primary"],
  addresses: ["locality", "country", "type", "primary"],
};
const PARTS: Record<PartsName, readonly string[]> = {
  name: ["givenName", "familyName"],
  [ENTERPRISE]: ["department", "costCenter"],
};
const VALUES = ["a@x.example", "A@X.example", "b@x.example", "c@x.example", "nowhere"];

const text = oneOf("one", "One", "two");
function subValue(sub: string): fc.Arbitrary<Scalar> {
  if (sub === "primary") return fc.boolean();
  if (sub === "value") return oneOf(...VALUES);
  return sub === "type" ? oneOf("work", "WORK", "home") : text;
}

const listName = oneOf<ListName>("emails", "emails", "roles", "addresses");
const partsName = oneOf<PartsName>("name", ENTERPRISE);
const part = (sub: string) => fc.record({ sub: fc.constant(sub), literal: subValue(sub) });
const partsOf = (name: ListName, bounds: { minLength?: number; maxLength: number }) =>
  fc.array(oneOf(...SUBS[name]).chain(part), bounds);

const element = (name: ListName): fc.Arbitrary<Element> =>
  partsOf(name, { maxLength: 6 }).map((parts) =>
    Object.fromEntries(parts.map(({ sub, literal }) => [sub, literal])),
  );
const elements = (name: ListName) => fc.array(element(name), { maxLength: 3 });

const filter = (name: ListName): fc.Arbitrary<Filter> =>
  fc.record({ join: oneOf("and", "and", "or"), parameters: partsOf(name, { minLength: 1, maxLength: 2 }) });

const simple = oneOf(
  { name: "title", values: text },
  { name: "userName", values: oneOf("ada@x.example", "eve@x.example", "ada") },
  { name: "active", values: fc.boolean() },
).chain(({ name, values }) =>
  fc.record({ kind: always("simple"), name: fc.constant(name), value: orNull<Scalar>(values) }),
);
const ofParts = partsName.chain((of) =>
  fc.record({ kind: always("part"), of: fc.constant(of), sub: oneOf(...PARTS[of]), value: orNull(text) }),
);
const wholeParts = partsName.chain((of) =>
  fc.record({
    kind: always("parts"),
    of: fc.constant(of),
    value: orNull(fc.dictionary(oneOf(...PARTS[of]), orNull(text), { noNullPrototype: true })),
  }),
);
const list = listName.chain((name) =>
  fc.record({ kind: always("list"), name: fc.constant(name), value: orNull(elements(name)) }),
);
const selection = fc.tuple(listName, fc.boolean()).chain(([name, isWhole]): fc.Arbitrary<Selection> => {
  const common = { kind: always("selection"), name: fc.constant(name) };
  if (isWhole)
    return fc.record({
      ...common,
      filter: filter(name),
      sub: fc.constant(undefined),
      value: orNull(element(name)),
    });
  return oneOf(...SUBS[name]).chain((sub) =>
    fc.record({
      ...common,
      filter: fc.option(filter(name), { nil: undefined }),
      sub: fc.constant(sub),
      value: orNull(subValue(sub).map((value) => ({ [sub]: value }))),
    }),
  );
});

const step: fc.Arbitrary<Step> = fc.record({
  op: oneOf<Op>("add", "replace", "remove"),
  what: fc.oneof<fc.MaybeWeightedArbitrary<What>[]>(
    simple,
    ofParts,
    wholeParts,
    { weight: 3, arbitrary: list },
    { weight: 6, arbitrary: selection },
  ),
  isShort: fc.boolean(),
});

const user = fc
  .record({
    userName: oneOf("ada@x.example", "eve@x.example"),
    title: oneOf(null, "Dr"),
    name: oneOf(null, { givenName: "Ada" }),
    emails: elements("emails").map(withoutPrimaries),
    addresses: elements("addresses").map(withoutPrimaries),
  })
  .map((body) => readUser(body).doc);

function withoutPrimaries(given: readonly Element[]): Element[] {
  return given.map(({ primary: _, ...others }, at) => (at === 0 ? { ...others, primary: true } : others));
}

function pathOf(what: What): string {
  switch (what.kind) {
    case "part":
      return `${what.of}${what.of === ENTERPRISE ? ":" : "."}${what.sub}`;
    case "parts":
      return what.of;
    case "selection":
      return `${what.name}${bracketsOf(what.filter)}${what.sub === undefined ? "" : `.${what.sub}`}`;
    default:
      return what.name;
  }
}

function bracketsOf(filter: Filter | undefined): string {
  if (!filter) return "";
  return `[${filter.parameters.map(({ sub, literal }) => `${sub} eq ${JSON.stringify(literal)}`).join(` ${filter.join} `)}]`;
}

function messageOf(steps: readonly Step[]): object {
  const Operations = steps.map(({ op, what, isShort }) => {
    const path = pathOf(what);
    const value =
      what.kind === "selection" && what.sub !== undefined ? (what.value?.[what.sub] ?? null) : what.value;
    if (op === "remove") return what.kind === "list" && !isShort ? { op, path, value } : { op, path };
    return isShort ? { op, value: { [path]: value } } : { op, path, value };
  });
  return { Operations };
}

class Refused extends Error {}

const lower = (value: Scalar | undefined) => (typeof value === "string" ? value.toLowerCase() : value);
const sameIn = (one: Element, other: Element) => (sub: string) => lower(one[sub]) === lower(other[sub]);

const isMatch = (one: Element, { join, parameters }: Filter): boolean => {
  const responses = parameters.map(({ sub, literal }) => lower(one[sub]) === lower(literal));
  return join === "and" ? responses.every(Boolean) : responses.some(Boolean);
};

/** The values that a filter fixes: none if there are alternatives or contradictions. */
function fixedBy({ join, parameters }: Filter): Element | undefined {
  if (join === "or" && parameters.length > 1) return undefined;
  const fixed = Object.fromEntries(parameters.map(({ sub, literal }) => [sub, literal]));
  return isMatch(fixed, { join, parameters }) ? fixed : undefined;
}

const EVERY: Filter = { join: "and", parameters: [] };
/** Sub-attributes that identify the values of a list. */
const TELLING: Record<ListName, readonly string[]> = {
  emails: ["value", "type"],
  roles: ["value", "type"],
  addresses: ["locality", "country", "type"],
};
const hasContent = (one: Element): boolean => "value" in one || "locality" in one || "country" in one;

/** The user as one object; lists always exist, and every member is changed in place. */
class NaiveUser {
  readonly simple: Record<string, Scalar> = {};
  readonly parts: Record<PartsName, Record<string, string>> = { name: {}, [ENTERPRISE]: {} };
  readonly lists: Record<ListName, Element[]> = { emails: [], roles: [], addresses: [] };
  readonly #hadEmails: boolean;

  constructor(
    doc: ScimObject,
    readonly profile: ScimProfile,
  ) {
    const copy: Readonly<Record<string, unknown>> = JSON.parse(JSON.stringify(doc));
    const { name, emails = [], roles = [], addresses = [], ...simple } = copy;
    Object.assign(this.simple, simple);
    Object.assign(this.parts.name, name);
    Object.assign(this.lists, { emails, roles, addresses });
    this.#hadEmails = this.lists.emails.length > 0;
  }

  carryOut({ op, what, isShort }: Step): void {
    if (what.kind === "simple") this.#simple(what.name, op, what.value);
    else if (what.kind === "part")
      this.#part(what.of, { [what.sub]: op === "remove" ? null : what.value }, op);
    else if (what.kind === "parts") this.#part(what.of, op === "remove" ? null : what.value, op);
    else if (what.kind === "selection") this.#selection(what, op);
    else if (op === "remove") this.#removeListed(what.name, isShort ? undefined : (what.value ?? []));
    else this.#list(what.name, op, what.value ?? []);
  }

  #simple(name: string, op: Op, value: Scalar | null): void {
    if (op !== "remove" && value !== null) this.simple[name] = value;
    else if (op === "add") return;
    else if (name === "title") delete this.simple[name];
    else throw new Refused("mutability");
  }

  #part(of: PartsName, given: Readonly<Record<string, string | null>> | null, op: Op): void {
    if (given === null && op !== "add") this.parts[of] = {};
    for (const [sub, value] of Object.entries(given ?? {})) {
      if (value !== null) this.parts[of][sub] = value;
      else if (op !== "add") delete this.parts[of][sub];
    }
  }

  #list(name: ListName, op: Op, value: readonly Element[]): void {
    const given = value.filter(hasContent);
    if (given.filter(({ primary }) => primary === true).length > 1) throw new Refused("invalidValue");
    if (op === "add") for (const one of given) this.#append(name, one);
    else this.lists[name] = given.map((one) => ({ ...one }));
  }

  #append(name: ListName, given: Element): void {
    const known = this.lists[name].find((one) => TELLING[name].every(sameIn(one, given)));
    const one = known ?? { ...given };
    if (known) Object.assign(known, { ...given, ...known });
    else this.lists[name].push(one);
    if (given.primary === true) this.#prefer(name, one);
  }

  #prefer(name: ListName, preferred: Element): void {
    for (const one of this.lists[name]) if (one.primary === true) one.primary = false;
    preferred.primary = true;
  }

  /** Without a value, all members are removed. */
  #removeListed(name: ListName, value: readonly Element[] | undefined): void {
    if (value?.some((one) => !hasContent(one))) throw new Refused("invalidValue");
    const isListed = (one: Element) =>
      value?.some((listed) => TELLING[name].filter((sub) => sub in listed).every(sameIn(one, listed))) ??
      true;
    this.lists[name] = this.lists[name].filter((one) => !isListed(one));
  }

  #selection({ name, filter, sub, value }: Selection, op: Op): void {
    const given = op === "remove" ? null : value;
    if (given === null && op === "add") return;
    const isDerived = name === "emails" && filter !== undefined && this.lists.emails.length === 0;
    if (isDerived) this.lists.emails.push({ value: this.simple.userName ?? "", type: "work", primary: true });
    const before = JSON.stringify(this.lists[name]);
    const matched = this.lists[name].filter((one) => isMatch(one, filter ?? EVERY));
    if (matched.length === 0 && op !== "remove") this.#create(name, filter, op, given);
    if (given?.primary === true && matched.length > 1) throw new Refused("invalidValue");
    for (const one of matched) {
      if (op !== "add" && sub === undefined)
        keepOnly(one, given ? Object.keys(fixedBy(filter ?? EVERY) ?? {}) : []);
      if (sub !== undefined && !given) delete one[sub];
      Object.assign(one, given);
      if (given?.primary === true) this.#prefer(name, one);
    }
    this.lists[name] = this.lists[name].filter(hasContent);
    if (isDerived && JSON.stringify(this.lists[name]) === before) this.lists[name] = [];
  }

  #create(name: ListName, filter: Filter | undefined, op: Op, given: Element | null): void {
    const fixed = fixedBy(filter ?? EVERY);
    if (!fixed || (op === "replace" && filter && this.profile !== "entra")) throw new Refused("noTarget");
    const made = { ...fixed, ...given };
    if (given && hasContent(made)) this.#append(name, made);
  }

  /** @throws Refused when the account would have no address */
  end(): object {
    const candidates = [...this.lists.emails.map(({ value }) => value), this.simple.userName];
    if (!candidates.some((candidate) => String(candidate).includes("@")))
      throw new Refused(this.#hadEmails && this.lists.emails.length === 0 ? "mutability" : "invalidValue");
    const assigned = Object.entries({ ...this.parts, ...this.lists }).filter(
      ([, value]) => Object.keys(value).length > 0,
    );
    return { ...this.simple, ...Object.fromEntries(assigned) };
  }
}

function keepOnly(one: Element, kept: readonly string[]): void {
  for (const sub of Object.keys(one)) if (!kept.includes(sub)) delete one[sub];
}

function outcomeOf(attempt: () => object): object | string {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof ScimError) return error.scimType ?? "";
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

test(
  "a user after any PATCH equals the naive model",
  () => {
    fc.assert(
      fc.property(
        user,
        fc.array(step, { minLength: 1, maxLength: STEPS_MAX }),
        oneOf<ScimProfile>("standard", "entra"),
        (doc, steps, profile) => {
          const expected = outcomeOf(() => {
            const model = new NaiveUser(doc, profile);
            for (const one of steps) model.carryOut(one);
            return model.end();
          });
          expect(outcomeOf(() => patchUser(doc, messageOf(steps), { id: ID, profile }))).toEqual(expected);
        },
      ),
      { numRuns: SEQUENCES },
    );
  },
  TIME_LIMIT_MS,
);

const member = oneOf("u1", "u2", "u3", "u4");
const memberStep = fc.record({
  op: oneOf<Op>("add", "replace", "remove"),
  ids: fc.option(fc.array(member, { maxLength: 3 }), { nil: undefined }),
  spelling: oneOf("texts", "objects", "references", "filter", "pathless"),
});
type MemberStep = typeof memberStep extends fc.Arbitrary<infer T> ? T : never;

function memberOperation({ op, ids = [], spelling }: MemberStep): object {
  const path = "members";
  if (spelling === "objects") return { op, path, value: ids.map((value) => ({ value })) };
  if (spelling === "references") return { op, path, value: ids.map((id) => ({ $ref: `x/${id}` })) };
  if (spelling === "pathless" && op !== "remove") return { op, value: { members: ids } };
  if (spelling === "filter" && op === "remove" && ids.length > 0)
    return { op, path: `members[${ids.map((id) => `value eq "${id}"`).join(" or ")}]` };
  return { op, path, value: ids };
}

test("a group after any PATCH has the members that its operations produce in order", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(member),
      fc.array(memberStep, { minLength: 1, maxLength: STEPS_MAX }),
      (before, steps) => {
        let naive = [...before];
        const Operations = steps.map((one) => {
          const isWhole = one.op === "remove" && one.ids === undefined;
          const ids = one.ids ?? [];
          if (isWhole || one.op === "replace") naive = [];
          naive = naive.filter((id) => one.op !== "remove" || !ids.includes(id));
          if (one.op !== "remove") naive.push(...ids);
          return isWhole ? { op: "remove", path: "members" } : memberOperation(one);
        });
        const { base, add, remove } = runSynchronously(
          readGroupPatch({ Operations }, { id: ID, profile: "standard" }),
        ).members;
        const kept = base === "kept" ? before.filter((id) => !remove.includes(id)) : [];
        expect(new Set([...kept, ...add])).toEqual(new Set(naive));
        expect(add.filter((id) => remove.includes(id))).toEqual([]);
      },
    ),
    { numRuns: SEQUENCES },
  );
});
