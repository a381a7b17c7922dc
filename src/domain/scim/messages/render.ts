// The renderer of users and groups: stored and computed attributes, projected to the requested ones, as JSON text. A user is stored
// as text, which is parsed only to omit attributes or to complete it. users/ and groups/ query the input.
import type { GroupRow, Named, ScimObject, UserRow } from "../model.ts";
import { partsOf } from "../schema/document.ts";
import { shownDoc } from "../users/user-columns.ts";
import { CORE_GROUP, CORE_USER, ENTERPRISE_USER, type ResourceTypeName } from "../wire.ts";
import { etagOf, locationOf } from "./messages.ts";
import { type Parts, project, type View } from "./view.ts";

/** How resources are shown. */
export interface Shown {
  view: View;
  baseUrl: string;
}

/** Attributes of a user that come from other resources. */
export interface UserRelations {
  /** undefined if they are not shown */
  groups: readonly Named[] | undefined;
  /** the user that `manager.value` names */
  manager: Named | undefined;
}

// Values cannot contain these texts: JSON escapes their quotes.
const EMAILS = '"emails":';
const EXTENSION = `,"${ENTERPRISE_USER}":`;
const MANAGER = '"manager":';
const NO_MEMBERS = '"members":[]';

const CORE_SCHEMAS = JSON.stringify([CORE_USER]);
const ALL_SCHEMAS = JSON.stringify([CORE_USER, ENTERPRISE_USER]);
const GROUP_SCHEMAS = JSON.stringify([CORE_GROUP]);

/** @returns whether the user names a manager */
export const namesManager = ({ doc }: UserRow): boolean => doc.includes(MANAGER);

/** @returns JSON text of the user, with the derived e-mail if none is stored (SCIM-13, SCIM-32) */
export function userJson(row: UserRow, { groups, manager }: UserRelations, { view, baseUrl }: Shown): string {
  const doc = row.doc.includes(EMAILS) ? row.doc : JSON.stringify(shownDoc(JSON.parse(row.doc)));
  const [core, stored] = doc.slice(1, -1).split(EXTENSION);
  const extension = stored && shownExtension(stored, manager, baseUrl);
  const whole =
    `{"schemas":${extension ? ALL_SCHEMAS : CORE_SCHEMAS},"id":"${row.id}",${core}` +
    `${groups ? `,"groups":${groupList(groups, baseUrl)}` : ""}${extension ? EXTENSION + extension : ""}` +
    `,"meta":${metaJson("User", row, baseUrl)}}`;
  if (view.isDefault) return whole;
  const shown = project(JSON.parse(whole), view.partsOf("User"));
  return JSON.stringify(ENTERPRISE_USER in shown ? shown : { ...shown, schemas: [CORE_USER] });
}

// Only a name needs escaping, because ids are ours and an origin has no quotes.
const groupList = (groups: readonly Named[], baseUrl: string): string =>
  `[${groups.map((group) => groupReference(group, baseUrl)).join()}]`;

const groupReference = ({ id, display }: Named, baseUrl: string): string =>
  `{"value":"${id}","$ref":"${locationOf("Group", id, baseUrl)}","display":${JSON.stringify(display)},"type":"direct"}`;

/** @returns JSON text of the extension with the computed parts of the manager; undefined if it is empty */
function shownExtension(stored: string, named: Named | undefined, baseUrl: string): string | undefined {
  if (!stored.includes(MANAGER)) return stored;
  const { manager, ...rest }: ScimObject = JSON.parse(stored);
  const { value } = partsOf(manager);
  if (value === undefined) return Object.keys(rest).length > 0 ? JSON.stringify(rest) : undefined;
  return JSON.stringify({ ...rest, manager: { value, ...(named && referenceTo(named, baseUrl)) } });
}

const referenceTo = ({ id, display }: Named, baseUrl: string): ScimObject => ({
  $ref: locationOf("User", id, baseUrl),
  ...(display !== null && { displayName: display }),
});

function metaJson(
  resourceType: ResourceTypeName,
  { id, version, createdAtMs, updatedAtMs }: Pick<UserRow, "id" | "version" | "createdAtMs" | "updatedAtMs">,
  baseUrl: string,
): string {
  const created = new Date(createdAtMs).toISOString();
  const modified = updatedAtMs === createdAtMs ? created : new Date(updatedAtMs).toISOString();
  return (
    `{"resourceType":"${resourceType}","created":"${created}","lastModified":"${modified}",` +
    `"version":${JSON.stringify(etagOf(version))},"location":"${locationOf(resourceType, id, baseUrl)}"}`
  );
}

/** JSON text of a group; the members, separated by commas, go between `before` and `after`. */
export interface GroupFrame {
  before: string;
  /** @param list JSON list of whole members; undefined if no members are shown */
  members: ((list: string) => string) | undefined;
  after: string;
}

/** @returns the text around the members, because there may be too many members for one text */
export function groupFrame(row: GroupRow, { view, baseUrl }: Shown): GroupFrame {
  const { id, displayName, externalId } = row;
  const whole =
    `{"schemas":${GROUP_SCHEMAS},"id":"${id}",` +
    `${externalId === null ? "" : `"externalId":${JSON.stringify(externalId)},`}` +
    `"displayName":${JSON.stringify(displayName)},${NO_MEMBERS},"meta":${metaJson("Group", row, baseUrl)}}`;
  const parts = view.partsOf("Group");
  const text = view.isDefault ? whole : JSON.stringify(project(JSON.parse(whole), parts));
  const membersAt = text.indexOf(NO_MEMBERS);
  const ofMember = parts.get("members");
  if (membersAt < 0 || !ofMember) return { before: text, members: undefined, after: "" };
  const listAt = membersAt + NO_MEMBERS.length - 1;
  return {
    before: text.slice(0, listAt),
    members: (list) => (view.isDefault ? list : projectedList(list, ofMember)).slice(1, -1),
    after: text.slice(listAt),
  };
}

function projectedList(list: string, parts: Parts): string {
  const whole: readonly ScimObject[] = JSON.parse(list);
  return JSON.stringify(whole.map((element) => project(element, parts)));
}
