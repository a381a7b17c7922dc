// Reads a report. In addition to its schema (model.ts), required values must not be blank, and lists have a size limit in
// bytes. verdict/verdict.ts gives the verdict.

import type { Problem } from "../../platform/errors.ts";
import { isJsonObject } from "../../platform/json/json-object.ts";
import { refuseReport } from "./errors.ts";
import { ENTRY_BYTES_MAX, INVENTORY_BYTES_MAX } from "./limits.ts";
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
  refuseBlank(report, problems);
  const read = {
    ...reporter,
    instanceId: report.instance_id,
    hostname: report.hostname ?? null,
    clientVersion: report.client_version,
    platform: report.platform,
    architecture: report.architecture ?? null,
    configRevision: report.config_revision ?? null,
    applied: report.applied,
    filesOk: report.files_ok,
    error: report.error ?? null,
    attempt: attemptOf(report),
    harnesses,
    packages,
    harnessesText: inventoryText("harnesses", harnesses, problems),
    packagesText: inventoryText("packages", packages, problems),
    harnessNames: namesText(harnesses),
  };
  refuseReport(problems);
  return read;
}

/** Not in the schema, because the contract requires 400 for these. */
function refuseBlank(report: ClientStatusReport, problems: Problem[]): void {
  const { instance_id, client_version, reconciliation_attempt: attempt, error } = report;
  const required = { instance_id, client_version };
  const ofAttempt = attempt && {
    error: error ?? "",
    "reconciliation_attempt/harness": attempt.harness,
    "reconciliation_attempt/revision": attempt.revision,
  };
  for (const [at, text] of Object.entries({ ...required, ...ofAttempt })) {
    if (text.trim() !== "") continue;
    const rule = at === "error" ? "must say why the reconciliation failed" : "must not be blank";
    problems.push({ pointer: `/${at}`, detail: `${at} ${rule}` });
  }
}

const attemptOf = ({ reconciliation_attempt: attempt }: ClientStatusReport): Attempt | null =>
  attempt ? { harness: attempt.harness, revision: attempt.revision } : null;

/** @returns the JSON text to store */
function inventoryText(at: string, entries: readonly unknown[], problems: Problem[]): string {
  const list = JSON.stringify(entries);
  const bytes = Buffer.byteLength(list);
  if (bytes <= ENTRY_BYTES_MAX) return list; // a list within the limit of an entry cannot contain an oversized entry
  const report = (pointer: string, subject: string, max: number) =>
    problems.push({ pointer, detail: `${subject} may have at most ${max} bytes` });
  for (const [place, entry] of entries.entries()) {
    if (Buffer.byteLength(JSON.stringify(entry)) > ENTRY_BYTES_MAX)
      report(`/${at}/${place}`, `an entry of ${at}`, ENTRY_BYTES_MAX);
  }
  if (bytes > INVENTORY_BYTES_MAX) report(`/${at}`, at, INVENTORY_BYTES_MAX);
  return list;
}

const namesText = (harnesses: readonly unknown[]): string =>
  JSON.stringify([...new Set(harnesses.map(harnessNameOf).filter((name) => name !== undefined))].sort());

/** @returns the name of a reported harness: the entry itself, or its `name`; undefined for none */
export function harnessNameOf(entry: unknown): string | undefined {
  const name = isJsonObject(entry) ? entry.name : entry;
  return typeof name === "string" ? name : undefined;
}
