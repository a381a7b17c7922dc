// Validates a report beyond its schema (model.ts): required values must not be blank, and sizes are limited.
// verdict/verdict.ts gives the verdict.

import type { Problem } from "../../platform/errors.ts";
import { isJsonObject } from "../../platform/text/json-object.ts";
import { refuseReport } from "./errors.ts";
import {
  ENTRY_BYTES_MAX,
  ERROR_LENGTH_MAX,
  HARNESS_NAME_LENGTH_MAX,
  HARNESSES_MAX,
  HOSTNAME_LENGTH_MAX,
  INSTANCE_ID_LENGTH_MAX,
  INVENTORY_BYTES_MAX,
  PACKAGES_MAX,
  PLATFORM_LENGTH_MAX,
  REVISION_LENGTH_MAX,
  VERSION_LENGTH_MAX,
} from "./limits.ts";
import type { Attempt, ClientStatusReport, Reported, Reporter } from "./model.ts";

/** A validated report. Holds each list twice: parsed, for the verdict, and as the JSON text to store. */
export interface ReadReport extends Reported {
  loginSessionId: string;
  grantId: string | null;
  instanceId: string;
  hostname: string | null;
  clientVersion: string;
  harnessesText: string;
  packagesText: string;
  /** JSON list, sorted and distinct */
  harnessNames: string;
}

/**
 * @returns the report with defaults filled in; an omitted list is empty
 * @throws DomainError `client_report.invalid` with all problems
 */
export function readReport(reporter: Reporter, report: ClientStatusReport): ReadReport {
  const problems: Problem[] = [];
  const harnesses = report.harnesses ?? [];
  const packages = report.packages ?? [];
  const read = {
    ...reporter,
    instanceId: present(report.instance_id, { at: "instance_id", max: INSTANCE_ID_LENGTH_MAX, problems }),
    hostname: bounded(report.hostname, { at: "hostname", max: HOSTNAME_LENGTH_MAX, problems }),
    clientVersion: present(report.client_version, {
      at: "client_version",
      max: VERSION_LENGTH_MAX,
      problems,
    }),
    platform: report.platform,
    architecture: bounded(report.architecture, { at: "architecture", max: PLATFORM_LENGTH_MAX, problems }),
    configRevision: bounded(report.config_revision, {
      at: "config_revision",
      max: REVISION_LENGTH_MAX,
      problems,
    }),
    applied: report.applied,
    filesOk: report.files_ok,
    error: bounded(report.error, { at: "error", max: ERROR_LENGTH_MAX, problems }),
    attempt: readAttempt(report, problems),
    harnesses,
    packages,
    harnessesText: inventoryText(harnesses, { at: "harnesses", max: HARNESSES_MAX, problems }),
    packagesText: inventoryText(packages, { at: "packages", max: PACKAGES_MAX, problems }),
    harnessNames: namesText(harnesses, problems),
  };
  bounded(report.platform, { at: "platform", max: PLATFORM_LENGTH_MAX, problems });
  refuseReport(problems);
  return read;
}

interface Bound {
  /** member name, or path of member names separated by `/` */
  at: string;
  max: number;
  problems: Problem[];
}

function bounded(text: string | null | undefined, { at, max, problems }: Bound): string | null {
  if (text && text.length > max)
    problems.push({ pointer: `/${at}`, detail: `${at} may have at most ${max} characters` });
  return text ?? null;
}

function present(text: string, bound: Bound): string {
  const { at, problems } = bound;
  if (isBlank(text)) problems.push({ pointer: `/${at}`, detail: `${at} must not be blank` });
  bounded(text, bound);
  return text;
}

const isBlank = (text: string): boolean => text.trim() === "";

function readAttempt(
  { reconciliation_attempt: sent, error }: ClientStatusReport,
  problems: Problem[],
): Attempt | null {
  if (!sent) return null;
  if (isBlank(error ?? ""))
    problems.push({ pointer: "/error", detail: "error must say why the reconciliation failed" });
  const at = "reconciliation_attempt";
  return {
    harness: present(sent.harness, { at: `${at}/harness`, max: HARNESS_NAME_LENGTH_MAX, problems }),
    revision: present(sent.revision, { at: `${at}/revision`, max: REVISION_LENGTH_MAX, problems }),
  };
}

/** @returns the JSON text to store */
function inventoryText(entries: readonly unknown[], bound: Bound): string {
  const { at, max, problems } = bound;
  if (entries.length > max) {
    problems.push({ pointer: `/${at}`, detail: `${at} may have at most ${max} entries` });
    return "";
  }
  const list = JSON.stringify(entries);
  const bytes = Buffer.byteLength(list);
  if (bytes > ENTRY_BYTES_MAX) refuseLarge(entries, bound); // a smaller list cannot contain an oversized entry
  if (bytes > INVENTORY_BYTES_MAX)
    problems.push({ pointer: `/${at}`, detail: `${at} may have at most ${INVENTORY_BYTES_MAX} bytes` });
  return list;
}

function refuseLarge(entries: readonly unknown[], { at, problems }: Bound): void {
  for (const [place, entry] of entries.entries()) {
    if (Buffer.byteLength(JSON.stringify(entry)) <= ENTRY_BYTES_MAX) continue;
    const detail = `an entry of ${at} may have at most ${ENTRY_BYTES_MAX} bytes`;
    problems.push({ pointer: `/${at}/${place}`, detail });
  }
}

function namesText(harnesses: readonly unknown[], problems: Problem[]): string {
  const names = new Set<string>();
  for (const [place, entry] of harnesses.slice(0, HARNESSES_MAX).entries()) {
    const at = typeof entry === "string" ? `harnesses/${place}` : `harnesses/${place}/name`;
    const name = bounded(harnessNameOf(entry), { at, max: HARNESS_NAME_LENGTH_MAX, problems });
    if (name !== null) names.add(name);
  }
  return JSON.stringify([...names].sort());
}

/** @returns the name of a reported harness: the entry itself, or its `name`; undefined for none */
export function harnessNameOf(entry: unknown): string | undefined {
  const name = isJsonObject(entry) ? entry.name : entry;
  return typeof name === "string" ? name : undefined;
}
