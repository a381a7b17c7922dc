// Where each attribute of a filter or an order is stored: columns, JSON paths of `doc_key`, rows of other tables. All SQL is
// generated here from the schema table; input is never part of SQL text.
import { type SQL, sql } from "drizzle-orm";
import { IS_OWN_GROUP, IS_OWN_REVISION, IS_OWN_USER, ORGANIZATION } from "../organization-store.ts";
import { type AttributePath, pathText } from "../schema/attribute-path.ts";
import { type Attribute, COMMON_ATTRIBUTES, RESOURCE_TYPE } from "../schema/schema.ts";
import { scimGroupMembers, scimGroups, scimUserEmails, scimUserRevisions, scimUsers } from "../tables.ts";
import { ENTERPRISE_USER, type ResourceTypeName } from "../wire.ts";
import type { Comparison, Presence } from "./model.ts";

interface Index {
  /** the condition on the first column of the index, if that is the organization */
  readonly organization?: SQL;
}

export interface Operand {
  /** folded if case-insensitive; NULL without a value */
  readonly expression: SQL;
  /** set if an index finds the value */
  readonly index?: Index;
  /** whether the index has every resource of an organization in the order of this value */
  readonly isOrdered?: true;
  /** whether every resource of an organization has a different value */
  readonly isUnique?: true;
  /** whether it is in the table of revisions instead of the table of users */
  readonly isOfRevision?: true;
}

/** Rows that each have one value of a multi-valued attribute. */
export interface Rows {
  /** @returns undefined for a sub-attribute that these rows do not have */
  operandOf(test: Presence | Comparison): Operand | undefined;
  /** @returns whether the current resource has a row for which `condition` is true */
  some(condition: SQL): SQL;
}

export interface Collection {
  /** checks the rows of one resource after the other */
  readonly each: Rows;
  /** starts from the rows: for conditions that an index finds */
  readonly lookup?: Rows;
  /** @returns the sub-attribute of the primary value, else of the first */
  first(leaf: Attribute): SQL;
}

const stored = (expression: SQL, more: Omit<Operand, "expression"> = {}): Operand => ({
  expression,
  ...more,
});
const BY_VALUE = { index: {} } as const;
const BY_USER_VALUE = { index: { organization: IS_OWN_USER } } as const;
const BY_REVISION = { index: { organization: IS_OWN_REVISION } } as const;
const BY_GROUP_VALUE = { index: { organization: IS_OWN_GROUP } } as const;
const UNIQUE = { isUnique: true } as const;
const ORDERED = { isOrdered: true } as const;

const COLUMNS: Readonly<Record<ResourceTypeName, Readonly<Record<string, Operand>>>> = {
  User: {
    id: stored(sql`${scimUsers.accountId}`, { ...BY_VALUE, ...UNIQUE }),
    externalId: stored(sql`${scimUsers.externalId}`, BY_USER_VALUE),
    userName: stored(sql`${scimUsers.userNameKey}`, { ...BY_USER_VALUE, ...ORDERED, ...UNIQUE }),
    displayName: stored(sql`${scimUsers.displayNameKey}`, { ...BY_USER_VALUE, ...ORDERED }),
    "name.familyName": stored(sql`${scimUsers.familyNameKey}`),
    "name.givenName": stored(sql`${scimUsers.givenNameKey}`),
    active: stored(sql`${scimUsers.active}`),
    "meta.created": stored(sql`${scimUsers.createdAtMs}`),
    "meta.lastModified": stored(sql`${scimUserRevisions.updatedAtMs}`, {
      ...BY_REVISION,
      ...ORDERED,
      isOfRevision: true,
    }),
    "meta.resourceType": stored(sql`'User'`),
  },
  Group: {
    id: stored(sql`${scimGroups.id}`, { ...BY_VALUE, ...UNIQUE }),
    externalId: stored(sql`${scimGroups.externalId}`, BY_GROUP_VALUE),
    displayName: stored(sql`${scimGroups.displayNameKey}`, { ...BY_GROUP_VALUE, ...ORDERED, ...UNIQUE }),
    "meta.created": stored(sql`${scimGroups.createdAtMs}`),
    "meta.lastModified": stored(sql`${scimGroups.updatedAtMs}`, { ...BY_GROUP_VALUE, ...ORDERED }),
    "meta.resourceType": stored(sql`'Group'`),
  },
};

/** @param steps names of the schema table @returns a JSON path as an SQL text literal */
const jsonPath = (...steps: string[]): SQL => sql.raw(`'$${steps.map((step) => `."${step}"`).join("")}'`);

function documentOperands(): ReadonlyMap<string, Operand> {
  const { core, extensions } = RESOURCE_TYPE.User;
  const places = [
    ...[...COMMON_ATTRIBUTES, ...core.attributes].map((attribute) => ({ extension: undefined, attribute })),
    ...extensions.flatMap((extension) => extension.attributes.map((attribute) => ({ extension, attribute }))),
  ];
  const operands = new Map<string, Operand>();
  for (const { extension, attribute } of places) {
    if (attribute.multiValued) continue;
    for (const sub of [undefined, ...(attribute.subAttributes ?? [])]) {
      const steps = [extension?.id, attribute.name, sub?.name].filter((step) => step !== undefined);
      const operand = stored(sql`${scimUsers.docKey} ->> ${jsonPath(...steps)}`);
      operands.set(pathText({ type: "User", extension, attribute, sub }), operand);
    }
  }
  return operands;
}

const ofManager = (...steps: string[]): SQL => sql`(manager.doc_key ->> ${jsonPath(...steps)})`;
const GIVEN = ofManager("name", "givenName");
const FAMILY = ofManager("name", "familyName");

/** The name of the user's manager, as in user-columns.ts, because documents do not contain other users' names. */
const MANAGER_NAME = stored(sql`(SELECT coalesce(
  ${ofManager("displayName")}, ${ofManager("name", "formatted")}, ${GIVEN} || ' ' || ${FAMILY}, ${GIVEN}, ${FAMILY})
  FROM scim_users AS manager WHERE manager.organization_id = ${scimUsers.organizationId}
  AND manager.account_id = ${scimUsers.docKey} ->> ${jsonPath(ENTERPRISE_USER, "manager", "value")})`);

const OPERANDS: Readonly<Record<ResourceTypeName, ReadonlyMap<string, Operand>>> = {
  User: new Map([
    ...documentOperands(),
    ...Object.entries(COLUMNS.User),
    [`${ENTERPRISE_USER}:manager.displayName`, MANAGER_NAME],
  ]),
  Group: new Map(Object.entries(COLUMNS.Group)),
};

/** @returns the storage of a single-valued attribute of the current resource */
export function operandOf({ path }: { path: AttributePath }): Operand {
  const operand = OPERANDS[path.type].get(pathText(path));
  if (!operand) throw new TypeError(`${path.type} ${pathText(path)} is stored nowhere`);
  return operand;
}

/** Values that are only in the document. */
function inDocument({ name }: Attribute): Collection {
  const values = sql`json_each(${scimUsers.docKey}, ${jsonPath(name)}) AS element`;
  const part = (leaf: string): SQL => sql`element.value ->> ${jsonPath(leaf)}`;
  return {
    each: {
      operandOf: ({ leaf }) => stored(part(leaf.name)),
      some: (condition) => sql`EXISTS (SELECT 1 FROM ${values} WHERE ${condition})`,
    },
    first: (leaf) =>
      sql`(SELECT ${part(leaf.name)} FROM ${values} ORDER BY ${part("primary")} IS 1 DESC, element.key LIMIT 1)`,
  };
}

const EMAIL_COLUMNS: Readonly<Record<string, Operand>> = {
  value: stored(sql`${scimUserEmails.valueKey}`, BY_VALUE),
  type: stored(sql`${scimUserEmails.typeKey}`),
};
const IS_PRIMARY = stored(sql`${scimUserEmails.isPrimary}`);

/** The table has no `display`, and does not distinguish a false `primary` from an absent one. */
const EMAIL_ROWS: Rows = {
  operandOf(test) {
    if (test.leaf.name !== "primary") return EMAIL_COLUMNS[test.leaf.name];
    return test.kind === "compare" && test.literal === true ? IS_PRIMARY : undefined;
  },
  some: (condition) => sql`${scimUsers.accountId} IN (SELECT ${scimUserEmails.userId} FROM ${scimUserEmails}
    WHERE ${scimUserEmails.organizationId} = ${ORGANIZATION} AND ${condition})`,
};

const GROUP_COLUMNS: Readonly<Record<string, Operand>> = {
  value: stored(sql`${scimGroups.id}`, BY_VALUE),
  display: stored(sql`${scimGroups.displayNameKey}`, BY_VALUE),
  type: stored(sql`'direct'`),
};
const ofGroup: Rows["operandOf"] = ({ leaf }) => GROUP_COLUMNS[leaf.name];
const GROUPS_OF_USER = sql`${scimGroupMembers} JOIN ${scimGroups} ON ${scimGroups.sequence} = ${scimGroupMembers.groupSequence}`;
const IS_OF_USER = sql`${scimGroupMembers.userSequence} = ${scimUsers.sequence}`;

const GROUPS: Collection = {
  each: {
    operandOf: ofGroup,
    some: (condition) => sql`EXISTS (SELECT 1 FROM ${GROUPS_OF_USER} WHERE ${IS_OF_USER} AND ${condition})`,
  },
  lookup: {
    operandOf: ofGroup,
    some: (
      condition,
    ) => sql`${scimUsers.sequence} IN (SELECT ${scimGroupMembers.userSequence} FROM ${GROUPS_OF_USER}
      WHERE ${IS_OWN_GROUP} AND ${condition})`,
  },
  first: ({
    name,
  }) => sql`(SELECT ${GROUP_COLUMNS[name]?.expression} FROM ${GROUPS_OF_USER} WHERE ${IS_OF_USER}
    ORDER BY ${scimGroups.displayName}, ${scimGroups.id} LIMIT 1)`,
};

const MEMBER_COLUMNS: Readonly<Record<string, Operand>> = {
  value: stored(sql`${scimUsers.accountId}`, BY_VALUE),
  type: stored(sql`'user'`),
};
const ofMember: Rows["operandOf"] = ({ leaf }) => MEMBER_COLUMNS[leaf.name];
const IS_OF_GROUP = sql`${scimGroupMembers.groupSequence} = ${scimGroups.sequence}`;
/** The users for whom the condition is true. SQLite finds them once, in the index of ids, for any number of groups. */
const isOneOf = (condition: SQL): SQL =>
  sql`${scimGroupMembers.userSequence} IN (SELECT ${scimUsers.sequence} FROM ${scimUsers} WHERE ${condition})`;

const MEMBERS: Collection = {
  each: {
    operandOf: ofMember,
    some: (condition) =>
      sql`EXISTS (SELECT 1 FROM ${scimGroupMembers} WHERE ${IS_OF_GROUP} AND ${isOneOf(condition)})`,
  },
  lookup: {
    operandOf: ofMember,
    some: (condition) =>
      sql`${scimGroups.sequence} IN (SELECT ${scimGroupMembers.groupSequence} FROM ${scimGroupMembers} WHERE ${isOneOf(condition)})`,
  },
  first: ({
    name,
  }) => sql`(SELECT ${MEMBER_COLUMNS[name]?.expression} FROM ${scimGroupMembers} JOIN ${scimUsers}
    ON ${scimUsers.sequence} = ${scimGroupMembers.userSequence} WHERE ${IS_OF_GROUP}
    ORDER BY ${scimGroupMembers.userSequence} LIMIT 1)`,
};

const collectionOf = (attribute: Attribute): Collection => {
  if (attribute.name === "groups") return GROUPS;
  const inDoc = inDocument(attribute);
  return attribute.name === "emails" ? { ...inDoc, lookup: EMAIL_ROWS } : inDoc;
};

const LISTS = RESOURCE_TYPE.User.core.attributes.filter(({ multiValued }) => multiValued);
const COLLECTIONS: Readonly<Record<ResourceTypeName, ReadonlyMap<string, Collection>>> = {
  User: new Map(LISTS.map((attribute) => [attribute.name, collectionOf(attribute)])),
  Group: new Map([["members", MEMBERS]]),
};

/** @returns the storage of the values of a multi-valued attribute */
export function rowsOf({ type, attribute }: AttributePath): Collection {
  const collection = COLLECTIONS[type].get(attribute.name);
  if (!collection) throw new TypeError(`${type} ${attribute.name} is stored nowhere`);
  return collection;
}
