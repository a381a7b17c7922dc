// Formats clients as table columns, text and JSON. Facts reported by the client are printed unchanged.
import { toClientDocument } from "../../../src/domain/clients/inventory/documents.ts";
import type { ClientSummary, ClientView } from "../../../src/domain/clients/service.ts";
import { isJsonObject } from "../../../src/platform/json/json-object.ts";
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

export const SUMMARY_COLUMNS: readonly Column<ClientSummary>[] = [
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "USER", value: ({ userEmail }) => userEmail },
  { header: "HOST", value: ({ hostname }) => hostname },
  { header: "HEALTH", value: ({ health }) => health, color: ({ health }) => colorOf(health) },
  { header: "HARNESSES", value: (row) => shareText(row.harnessesReconciled, row.harnessesWanted) },
  { header: "PACKAGES", value: (row) => shareText(row.packagesApplied, row.packagesReported) },
  { header: "CLIENT", value: ({ clientVersion }) => clientVersion },
  { header: "PLATFORM", value: platformOf },
  { header: "SEEN", value: ({ lastSeenAtMs }) => new Date(lastSeenAtMs) },
  { header: "REVISION", value: ({ configRevision }) => configRevision, isWide: true },
];

const shareText = (done: number | null, all: number | null): string | null =>
  done === null || all === null ? null : `${done} of ${all}`;

/** @returns every fact about a client, one per line, then the reasons of its health, its harnesses and its packages */
export function clientText(client: ClientView, nowMs: number): string {
  const { harnesses, packages, status_reasons: reasons, ...facts } = toClientDocument(client);
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

function platformOf({ platform, architecture }: ClientSummary): string {
  return architecture === null ? platform : `${platform}-${architecture}`;
}

/** @returns `lab-14 (ana@example.org)`; the id if the host has no name */
export const nameOf = ({ hostname, id, userEmail }: ClientView): string => `${hostname ?? id} (${userEmail})`;
