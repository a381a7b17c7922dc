// Formats clients as table columns, text and JSON. Facts reported by the client are printed unchanged.
import { type ClientView, toAdminClientStatus } from "../../../src/domain/clients/inventory.ts";
import { isJsonObject } from "../../../src/platform/text/json-object.ts";
import { colorOf } from "../../output/color.ts";
import { detailsText } from "../../output/details.ts";
import { printable } from "../../output/printable.ts";
import { type Column, tableText } from "../../output/table.ts";

export const CLIENT_COLUMNS: readonly Column<ClientView>[] = [
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "USER", value: ({ userEmail }) => userEmail },
  { header: "HOST", value: ({ hostname }) => hostname },
  { header: "HEALTH", value: ({ health }) => health, color: ({ health }) => colorOf(health) },
  { header: "WHY", value: ({ reasons }) => inShort(reasons) },
  { header: "SEEN", value: ({ lastSeenAtMs }) => new Date(lastSeenAtMs) },
  { header: "REVISION", value: ({ configRevision }) => configRevision, isWide: true },
  { header: "CLIENT", value: ({ clientVersion }) => clientVersion, isWide: true },
  { header: "PLATFORM", value: platformOf, isWide: true },
  { header: "INSTANCE", value: ({ instanceId }) => instanceId, isWide: true },
  { header: "FIRST SEEN", value: ({ firstSeenAtMs }) => new Date(firstSeenAtMs), isWide: true },
];

/** @returns the members of the API, and the login of the client */
export const clientDocument = (client: ClientView) => ({
  ...toAdminClientStatus(client),
  user_id: client.userId,
  login_session_id: client.loginSessionId,
  grant_id: client.grantId,
});

/** @returns every fact about a client, one per line, then the reasons of its health, its harnesses and its packages */
export function clientText(client: ClientView, nowMs: number): string {
  const { harnesses, packages, status_reasons: reasons, ...facts } = clientDocument(client);
  const style = { wide: true, columns: undefined, nowMs };
  const named = harnesses.map((entry) => (isJsonObject(entry) ? entry : { name: entry }));
  return [
    detailsText(Object.entries(facts).map(([name, value]) => [name.replaceAll("_", " "), value])),
    ...(reasons.length > 0 ? [reasons.map((reason) => `- ${printable(reason)}`).join("\n")] : []),
    ...(named.length > 0 ? [tableText(named, HARNESS_COLUMNS, style)] : []),
    ...(packages.length > 0 ? [tableText(packages.filter(isJsonObject), PACKAGE_COLUMNS, style)] : []),
  ].join("\n\n");
}

type Entry = Readonly<Record<string, unknown>>;

const member = (header: string, name: string): Column<Entry> => ({
  header,
  value: (entry) => textOf(entry[name]),
});

const HARNESS_COLUMNS: readonly Column<Entry>[] = [
  member("HARNESS", "name"),
  { header: "VERSION", value: ({ version, raw_version: raw }) => textOf(version ?? raw) },
  member("RECONCILED", "reconciled"),
  member("ERROR", "compatibility_error"),
];

const PACKAGE_COLUMNS: readonly Column<Entry>[] = [
  member("PACKAGE", "id"),
  member("HARNESS", "harness"),
  member("VERSION", "version"),
  member("STATE", "state"),
  member("ERROR", "error"),
];

function textOf(value: unknown): string | undefined {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : undefined;
}

function inShort([first, ...others]: readonly string[]): string | undefined {
  return first === undefined || others.length === 0 ? first : `${first} (+${others.length})`;
}

function platformOf({ platform, architecture }: ClientView): string {
  return architecture === null ? platform : `${platform}-${architecture}`;
}

/** @returns `lab-14 (ana@example.org)`; the id if the host has no name */
export const nameOf = ({ hostname, id, userEmail }: ClientView): string => `${hostname ?? id} (${userEmail})`;
