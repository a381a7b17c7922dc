// The renderer of users and groups: stored and computed attributes, projected to the requested ones, as JSON text. Users and
// groups query its input.
import type { GroupRow, Named, ScimObject, ScimValue, UserRow } from "../model.ts";
import { isScimObject, partsOf } from "../schema/document.ts";
import { shownDoc } from "../users/emails.ts";
import { CORE_GROUP, CORE_USER, ENTERPRISE_USER, type ResourceTypeName } from "../wire.ts";
import { etagOf, locationOf } from "./messages.ts";
import { project, type View } from "./view.ts";

/** How resources are shown. */
export interface Shown {
  view: View;
  baseUrl: string;
}

/** A group always has a name to show. */
export type NamedGroup = Named & { display: string };

/** Attributes of a user that come from other resources. */
export interface UserRelations {
  /** in the order of names; undefined if they are not shown */
  groups: readonly NamedGroup[] | undefined;
  /** the user that `manager.value` names */
  manager: Named | undefined;
}

/** @returns JSON text of the user, with the derived e-mail if none is stored (SCIM-13, SCIM-32) */
export function userJson(row: UserRow, { groups, manager }: UserRelations, { view, baseUrl }: Shown): string {
  const doc = shownDoc(JSON.parse(row.doc));
  const extension = shownExtension(doc[ENTERPRISE_USER], manager, baseUrl);
  const schemas = extension ? [CORE_USER, ENTERPRISE_USER] : [CORE_USER];
  const whole: Record<string, ScimValue> = { schemas, id: row.id };
  for (const name in doc) {
    const value = doc[name];
    if (value !== undefined && name !== ENTERPRISE_USER) whole[name] = value;
  }
  if (groups) whole.groups = groups.map((group) => groupOfUser(group, baseUrl));
  if (extension) whole[ENTERPRISE_USER] = extension;
  whole.meta = metaOf("User", row, baseUrl);
  if (view.isDefault) return JSON.stringify(whole);
  const shown = project(whole, view.partsOf("User"));
  return JSON.stringify(ENTERPRISE_USER in shown ? shown : { ...shown, schemas: [CORE_USER] });
}

/** @returns the extension with the computed parts of the manager; undefined if nothing of it remains */
function shownExtension(
  extension: ScimValue | undefined,
  named: Named | undefined,
  baseUrl: string,
): ScimObject | undefined {
  if (!isScimObject(extension)) return undefined;
  if (extension.manager === undefined) return extension;
  const { manager, ...rest } = extension;
  const { value } = partsOf(manager);
  if (value === undefined) return Object.keys(rest).length > 0 ? rest : undefined;
  if (!named) return { ...rest, manager: { value } };
  const { id, display } = named;
  const $ref = locationOf("User", id, baseUrl);
  return { ...rest, manager: { value, $ref, ...(display !== null && { displayName: display }) } };
}

const groupOfUser = ({ id, display }: NamedGroup, baseUrl: string): ScimObject => ({
  value: id,
  $ref: locationOf("Group", id, baseUrl),
  display,
  type: "direct",
});

const memberOf = ({ id, display }: Named, baseUrl: string): ScimObject => ({
  value: id,
  $ref: locationOf("User", id, baseUrl),
  type: "User",
  ...(display !== null && { display }),
});

function metaOf(
  resourceType: ResourceTypeName,
  { id, version, createdAtMs, updatedAtMs }: Pick<UserRow, "id" | "version" | "createdAtMs" | "updatedAtMs">,
  baseUrl: string,
): ScimObject {
  return {
    resourceType,
    created: new Date(createdAtMs).toISOString(),
    lastModified: new Date(updatedAtMs).toISOString(),
    version: etagOf(version),
    location: locationOf(resourceType, id, baseUrl),
  };
}

/** JSON text of a group; the members, separated by commas, go between `before` and `after`. */
export interface GroupFrame {
  before: string;
  /** undefined if no members are shown */
  members: ((members: readonly Named[]) => string) | undefined;
  after: string;
}

/** Values cannot contain this text: JSON escapes their quotes. */
const NO_MEMBERS = '"members":[]';

/** @returns the text around the members, of which there may be too many for one text */
export function groupFrame(row: GroupRow, { view, baseUrl }: Shown): GroupFrame {
  const { id, displayName, externalId } = row;
  const whole: ScimObject = {
    schemas: [CORE_GROUP],
    id,
    ...(externalId !== null && { externalId }),
    displayName,
    members: [],
    meta: metaOf("Group", row, baseUrl),
  };
  const parts = view.partsOf("Group");
  const text = JSON.stringify(view.isDefault ? whole : project(whole, parts));
  const membersAt = text.indexOf(NO_MEMBERS);
  const ofMember = parts.get("members");
  if (membersAt < 0 || !ofMember) return { before: text, members: undefined, after: "" };
  const listAt = membersAt + NO_MEMBERS.length - 1;
  return {
    before: text.slice(0, listAt),
    // One text for all: a text for each of 50,000 members would be garbage at once.
    members: (members) => {
      const whole = members.map((named) => memberOf(named, baseUrl));
      const shown = view.isDefault ? whole : whole.map((member) => project(member, ofMember));
      return JSON.stringify(shown).slice(1, -1);
    },
    after: text.slice(listAt),
  };
}
