// Resources as JSON text. The common case, everything shown, joins the stored text with what is computed and parses
// nothing; every other case composes the resource as an object. What goes in is queried by users and groups.

import type { GroupRow, Named, ScimObject, ShownUserRow, UserRow } from "../model.ts";
import { isScimObject } from "../schema/document.ts";
import { shownDoc, shownEmails } from "../users/emails.ts";
import { CORE_GROUP, CORE_USER, ENTERPRISE_USER, type ResourceTypeName } from "../wire.ts";
import { etagOf, locationOf } from "./messages.ts";
import { type Parts, project, type View } from "./view.ts";

/** A group in text; the members, joined by commas, go between. */
export interface GroupFrame {
  before: string;
  /** undefined when no members are shown: `before` and `after` are the whole then */
  member: ((member: Named) => string) | undefined;
  after: string;
}

/** What a user is shown with. */
interface Shown {
  /** whom `manager.value` names, if that is a user */
  manager: Named | undefined;
  view: View;
  baseUrl: string;
}

/** @returns JSON text of the user, with the derived e-mail where none is stored (SCIM-13, SCIM-32) */
export const userJson = (row: ShownUserRow, shown: Shown): string =>
  (shown.view.isDefault ? plainUser(row, shown) : undefined) ?? composedUser(row, shown);

// Client text cannot look like these: in JSON text its quotes are escaped, and the names in a document are ours.
const EMAILS_MARK = ',"emails":[';
const EXTENSION_MARK = `,"${ENTERPRISE_USER}":{`;
const MANAGER_MARK = '"manager":{';
const USER_NAME = /"userName":("(?:[^"\\]|\\.)*")/;
const BEFORE_EMAILS = /,"active":(?:true|false)/;
const MANAGER = /"manager":\{("value":"(?:[^"\\]|\\.)*")(?:,"\$ref":"(?:[^"\\]|\\.)*")?\}/;

const CORE_USER_START = `{"schemas":["${CORE_USER}"],"id":"`;
const EXTENDED_USER_START = `{"schemas":["${CORE_USER}","${ENTERPRISE_USER}"],"id":"`;

/** @returns undefined for a document that needs to be looked into */
function plainUser(row: ShownUserRow, { manager, baseUrl }: Shown): string | undefined {
  const doc = withEmails(row.doc);
  if (doc === undefined) return undefined;
  const groups = row.groups === null ? "" : `,"groups":${row.groups}`;
  const meta = `,"meta":${metaText("User", row, baseUrl)}}`;
  const extensionAt = doc.indexOf(EXTENSION_MARK);
  if (extensionAt < 0) return `${CORE_USER_START}${row.id}",${doc.slice(1, -1)}${groups}${meta}`;
  const extension = withManager(doc.slice(extensionAt, -1), manager, baseUrl);
  if (extension === undefined) return undefined;
  return `${EXTENDED_USER_START}${row.id}",${doc.slice(1, extensionAt)}${groups}${extension}${meta}`;
}

function withEmails(doc: string): string | undefined {
  if (doc.includes(EMAILS_MARK)) return doc;
  const userName = USER_NAME.exec(doc)?.[1];
  const active = BEFORE_EMAILS.exec(doc);
  if (userName === undefined || !active) return undefined;
  const emails = JSON.stringify(shownEmails({ userName: JSON.parse(userName) }));
  const at = active.index + active[0].length;
  return `${doc.slice(0, at)},"emails":${emails}${doc.slice(at)}`;
}

function withManager(extension: string, manager: Named | undefined, baseUrl: string): string | undefined {
  if (!extension.includes(MANAGER_MARK)) return extension;
  const found = MANAGER.exec(extension);
  if (!found) return undefined;
  const [whole, value] = found;
  const named = manager ? `,${JSON.stringify(managerParts(manager, baseUrl)).slice(1, -1)}` : "";
  return `${extension.slice(0, found.index)}${MANAGER_MARK}${value}${named}}${extension.slice(found.index + whole.length)}`;
}

function composedUser(row: ShownUserRow, { manager, view, baseUrl }: Shown): string {
  const stored: ScimObject = JSON.parse(row.doc);
  const { [ENTERPRISE_USER]: extension, ...core } = shownDoc(stored);
  const whole: ScimObject = {
    id: row.id,
    ...core,
    ...(row.groups !== null && { groups: parsed(row.groups) }),
    ...(isScimObject(extension) && { [ENTERPRISE_USER]: extensionValue(extension, manager, baseUrl) }),
    meta: parsed(metaText("User", row, baseUrl)),
  };
  const shown = project(whole, view.partsOf("User"));
  const schemas = ENTERPRISE_USER in shown ? [CORE_USER, ENTERPRISE_USER] : [CORE_USER];
  return JSON.stringify({ schemas, ...shown });
}

function extensionValue(extension: ScimObject, named: Named | undefined, baseUrl: string): ScimObject {
  const { manager, ...rest } = extension;
  if (!isScimObject(manager)) return extension;
  const { value } = manager;
  if (value === undefined) return rest;
  return { ...rest, manager: { value, ...(named && managerParts(named, baseUrl)) } };
}

const managerParts = ({ id, display }: Named, baseUrl: string): ScimObject => ({
  $ref: locationOf("User", id, baseUrl),
  ...(display !== null && { displayName: display }),
});

// Texts, because most are sent as they are. An origin and an id have nothing that JSON would escape.

function memberText({ id, display }: Named, baseUrl: string): string {
  const shown = display === null ? "" : `,"display":${JSON.stringify(display)}`;
  return `{"value":"${id}","$ref":"${locationOf("User", id, baseUrl)}","type":"User"${shown}}`;
}

function metaText(
  type: ResourceTypeName,
  { id, version, createdAtMs, updatedAtMs }: Pick<UserRow, "id" | "version" | "createdAtMs" | "updatedAtMs">,
  baseUrl: string,
): string {
  const created = new Date(createdAtMs).toISOString();
  const modified = updatedAtMs === createdAtMs ? created : new Date(updatedAtMs).toISOString();
  return (
    `{"resourceType":"${type}","created":"${created}","lastModified":"${modified}",` +
    `"version":${JSON.stringify(etagOf(version))},"location":"${locationOf(type, id, baseUrl)}"}`
  );
}

const parsed = (text: string): ScimObject => JSON.parse(text);

/** @returns what is shown of an attribute that is a text already; undefined for nothing */
function projectedText(name: string, text: string, parts: Parts): string | undefined {
  const shown = project({ [name]: parsed(text) }, parts)[name];
  return shown === undefined ? undefined : JSON.stringify(shown);
}

/** @returns the text around the members, which may be many, and how each of them is shown */
export function groupFrame(row: GroupRow, view: View, baseUrl: string): GroupFrame {
  const parts = view.partsOf("Group");
  const { id, displayName, externalId } = row;
  const whole = { id, ...(externalId !== null && { externalId }), displayName };
  const meta = metaText("Group", row, baseUrl);
  const own = view.isDefault ? whole : project(whole, parts);
  const shownMeta = view.isDefault ? meta : projectedText("meta", meta, parts);
  const start = JSON.stringify({ schemas: [CORE_GROUP], ...own }).slice(0, -1);
  const end = shownMeta === undefined ? "}" : `,"meta":${shownMeta}}`;
  const ofMember = parts.get("members");
  if (!ofMember) return { before: start, member: undefined, after: end };
  return {
    before: `${start},"members":[`,
    member: view.isDefault
      ? (member) => memberText(member, baseUrl)
      : (member) => JSON.stringify(project(parsed(memberText(member, baseUrl)), ofMember)),
    after: `]${end}`,
  };
}
