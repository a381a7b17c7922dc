// Formats the screen of `status` as text and JSON. Problems are printed under the item they concern.

import { sessionsText } from "../../../src/app/doctor/kept-sessions.ts";
import { FACTOR_REMEDY, factorText } from "../../../src/app/doctor/second-factor.ts";
import type { ExternalService } from "../../../src/app/installation/outside-services.ts";
import { jobDocument } from "../../../src/domain/system/job-document.ts";
import { isOverdue, type JobView } from "../../../src/domain/system/jobs.ts";
import {
  PROXY_SETTING,
  type UntrustedProxy,
  untrustedProxyRemedy,
  untrustedProxyText,
} from "../../../src/domain/system/untrusted-proxies.ts";
import { SECOND_MS, toRfc3339 } from "../../../src/platform/clock.ts";
import { bytesText } from "../../../src/platform/files/disk.ts";
import { COMMIT, VERSION } from "../../../src/platform/version.ts";
import { ageText } from "../../output/age.ts";
import { detailsText, type Fact, timeOf } from "../../output/details.ts";
import { forwardingDocument, forwardingText } from "../audit/forwarding.ts";
import { connectionFacts, connectionsDocument } from "./connections.ts";
import { inferenceDocument, inferenceFacts } from "./inference.ts";
import { modelFacts, modelsDocument } from "./models.ts";
import type { Content, HarnessState, Machine, Status } from "./read.ts";
import { signInDocument, signInFacts } from "./sign-in.ts";
import { tracingDocument, tracingFacts } from "./tracing.ts";

/** @returns the text, one fact per line */
export function statusText({ nowMs, machine, content, outside, harnesses }: Status): string {
  return detailsText([
    ["service", serviceText(machine, nowMs)],
    ...inferenceFacts(machine, nowMs),
    ["version", `${VERSION}, schema ${schemaText(machine)}`],
    ["data", machine.path],
    ["database", `${bytesText(machine.databaseBytes)}, write-ahead log ${bytesText(machine.walBytes)}`],
    ["disk", diskText(machine)],
    ...replicationFacts(machine, nowMs),
    ...standbyFacts(machine),
    ...(content?.untrustedProxy ? proxyFacts(content.untrustedProxy) : []),
    ...(content ? factorFacts(content) : []),
    ...(content ? contentFacts(content, { nowMs, machine }) : []),
    ...tracingFacts(machine.tracing),
    ...harnessFacts(harnesses),
    ...outside.flatMap(outsideFacts),
  ]);
}

function serviceText({ server }: Machine, nowMs: number): string {
  if (server === undefined) return "not running";
  if (server === "unknown") return "running";
  const { processId, sinceMs } = server;
  return `running since ${toRfc3339(sinceMs)} (${ageText(sinceMs, nowMs)}), process ${processId}`;
}

const schemaText = ({ schema: { database, program } }: Machine): string =>
  database === program
    ? String(program)
    : `${database}; the next start upgrades it to ${program}. Its contents are not shown until then`;

function diskText({ room: { availableBytes, sizeBytes } }: Machine): string {
  const share = Math.floor((100 * availableBytes) / Math.max(sizeBytes, 1));
  return `${bytesText(availableBytes)} of ${bytesText(sizeBytes)} free (${share} %)`;
}

function replicationFacts(machine: Machine, nowMs: number): Fact[] {
  if (!machine.replication) return [];
  const { lastProgressMs } = machine.replication;
  const text =
    lastProgressMs === undefined
      ? "Litestream has not copied anything yet"
      : `last progress ${whenText(lastProgressMs, { nowMs, machine })}`;
  return [["replication", text]];
}

function standbyFacts({ standby }: Machine): Fact[] {
  if (!standby) return [];
  const { term, holdsLease } = standby;
  const lease = holdsLease === undefined ? "" : `, ${holdsLease ? "holds" : "does not hold"} the lease`;
  return [["standby", term === undefined ? "no term has begun" : `term ${term}${lease}`]];
}

const proxyFacts = (seen: UntrustedProxy): Fact[] => [
  ["proxy", `${untrustedProxyText(seen)} (last seen at ${toRfc3339(seen.seenAtMs)})`],
  fact(untrustedProxyRemedy(seen.peer)),
];

const factorFacts = ({ administratorsWithoutFactor: count }: Content): Fact[] =>
  count === 0 ? [] : [["second factor", factorText(count)], fact(FACTOR_REMEDY)];

interface FactsContext {
  nowMs: number;
  machine: Machine;
}

const contentFacts = (
  { signIn, revision, clients, gateway, models, sessions, jobs, backup, forwarding, connections }: Content,
  context: FactsContext,
): readonly Fact[] => [
  ...signInFacts(signIn),
  [
    "policy",
    revision
      ? `${revision.id} (number ${revision.sequence}), published ${whenText(revision.createdAtMs, context)}`
      : "none published",
  ],
  ["clients", countsText(Object.entries(clients))],
  ["gateway keys", countsText(gateway.keys.map(({ state, total }) => [state, total]))],
  ...gatewayFacts(gateway),
  ...modelFacts(models, context),
  ...sessionFacts(sessions),
  ...connectionFacts(connections),
  ["jobs", countsText(outcomesOf(jobs))],
  ...jobs.flatMap((job) => jobFacts(job, context)),
  [
    "backup",
    backup
      ? `${whenText(backup.createdAtMs, context)}, ${bytesText(backup.sizeBytes)}, ${backup.path}`
      : "none made",
  ],
  ...(forwarding ? forwardingFacts(forwarding, context) : []),
];

const forwardingFacts = (state: NonNullable<Content["forwarding"]>, { nowMs }: FactsContext): Fact[] => [
  ["audit forwarding", forwardingText(state, nowMs)],
  ...(state.error === null ? [] : [fact(state.error)]),
];

function sessionFacts({ store, isUnusable, kept, withoutBytes }: Content["sessions"]): Fact[] {
  return [
    ["captured sessions", `${sessionsText(kept)}; store ${store}`],
    ...(withoutBytes > 0
      ? [fact(`${withoutBytes} without bytes, until their next upload; see sessions verify`)]
      : []),
    ...(isUnusable ? [fact("the store cannot be used: uploads and downloads are refused")] : []),
  ];
}

const whenText = (atMs: number, { nowMs }: FactsContext): string =>
  `${toRfc3339(atMs)} (${ageText(atMs, nowMs)})`;

function countsText(counts: readonly (readonly [name: string, total: number])[]): string {
  const parts = counts.filter(([, total]) => total > 0).map(([name, total]) => `${total} ${name}`);
  const sum = counts.reduce((total, [, part]) => total + part, 0);
  return parts.length === 0 ? "none" : `${sum}: ${parts.join(", ")}`;
}

function gatewayFacts({ isOn, problems, problemCodes, revocationsPending }: Content["gateway"]): Fact[] {
  const codes = problemCodes.map(({ code, total }) => `${total} ${code}`).join(", ");
  return [
    ...(problems > 0 ? [fact(`with a problem: ${codes}; see keys list --problems`)] : []),
    ...(revocationsPending > 0 ? [fact(`${revocationsPending} still to be revoked at the gateway`)] : []),
    ...(isOn ? [] : [fact("gateway mode is off in the settings of this command")]),
  ];
}

const fact = (text: string): Fact => ["", text];

function outcomesOf(jobs: readonly JobView[]): [string, number][] {
  const names = jobs.map(({ outcome }) => outcome ?? "not run yet");
  return [...new Set(names)].sort().map((name) => [name, names.filter((other) => other === name).length]);
}

function jobFacts(job: JobView, { nowMs, machine }: FactsContext): Fact[] {
  const { name, outcome, error, paused, finishedAtMs } = job;
  const since = finishedAtMs === null ? "" : ` ${ageText(finishedAtMs, nowMs)} ago`;
  const isBad = outcome === "failed" || outcome === "timed_out";
  return [
    ...(isBad ? [fact(`${name} ${outcome.replace("_", " ")}${since}: ${error ?? "no reason given"}`)] : []),
    ...(paused ? [fact(`${name} is paused`)] : []),
    ...(machine.server && isOverdue(job, nowMs) ? [fact(`${name} is overdue`)] : []),
  ];
}

const harnessFacts = ({ file, signer, problem }: HarnessState): Fact[] =>
  file === undefined
    ? []
    : [
        ["harness file", signer === undefined ? file : `${file}, signed by ${signer}`],
        ...(problem === undefined ? [] : [fact(`cannot be used: ${problem}`)]),
      ];

const outsideFacts = ({ name, origin, state, reason, affects }: ExternalService): Fact[] => [
  [name, `${origin} ${state === "not_asked" ? "may be reached" : `is ${state}`}`],
  ...(reason === null ? [] : [fact(reason), fact(`affects: ${affects}`)]),
];

/** @returns the JSON document; facts from the database are null if it has an older schema than the program */
export function statusDocument({ nowMs, machine, content, outside, harnesses }: Status): object {
  return {
    service: serviceDocument(machine, nowMs),
    inference: inferenceDocument(machine),
    version: VERSION,
    commit: COMMIT,
    schema: machine.schema,
    data: {
      path: machine.path,
      database_bytes: machine.databaseBytes,
      wal_bytes: machine.walBytes,
      disk_bytes: machine.room.sizeBytes,
      disk_available_bytes: machine.room.availableBytes,
    },
    replication: machine.replication
      ? { last_progress_at: timeOf(machine.replication.lastProgressMs ?? null) }
      : null,
    tracing: tracingDocument(machine.tracing),
    standby: machine.standby
      ? { term: machine.standby.term ?? null, holds_lease: machine.standby.holdsLease ?? null }
      : null,
    sign_in: content ? signInDocument(content.signIn) : null,
    policy: content?.revision ? policyDocument(content.revision) : null,
    clients: content?.clients ?? null,
    gateway_keys: content ? gatewayDocument(content.gateway) : null,
    gateway_models: content?.models ? modelsDocument(content.models) : null,
    captured_sessions: content ? sessionsDocument(content.sessions) : null,
    repository_connections: content ? connectionsDocument(content.connections) : null,
    jobs: content?.jobs.map(jobDocument) ?? null,
    backup: content?.backup ? backupDocument(content.backup) : null,
    audit_forwarding: content?.forwarding ? forwardingDocument(content.forwarding) : null,
    administrators_without_second_factor: content?.administratorsWithoutFactor ?? null,
    untrusted_proxy: content?.untrustedProxy ? proxyDocument(content.untrustedProxy) : null,
    harnesses: {
      file: harnesses.file ?? null,
      signer: harnesses.signer ?? null,
      problem: harnesses.problem ?? null,
    },
    outside,
  };
}

const sessionsDocument = ({ store, isUnusable, kept, withoutBytes }: Content["sessions"]) => ({
  store,
  usable: !isUnusable,
  ...kept,
  without_bytes: withoutBytes,
});

function serviceDocument({ server }: Machine, nowMs: number): object {
  const known = server === "unknown" ? undefined : server;
  return {
    running: server !== undefined,
    process_id: known?.processId ?? null,
    since: timeOf(known?.sinceMs ?? null),
    uptime_seconds: known ? Math.max(0, Math.floor((nowMs - known.sinceMs) / SECOND_MS)) : null,
  };
}

const proxyDocument = (seen: UntrustedProxy) => ({
  peer: seen.peer,
  header: seen.header,
  seen_at: timeOf(seen.seenAtMs),
  setting: PROXY_SETTING,
});

const policyDocument = ({ id, sequence, createdAtMs }: NonNullable<Content["revision"]>) => ({
  revision: id,
  number: sequence,
  published_at: timeOf(createdAtMs),
});

const backupDocument = ({ path, kind, createdAtMs, sizeBytes }: NonNullable<Content["backup"]>) => ({
  path,
  kind,
  created_at: timeOf(createdAtMs),
  size_bytes: sizeBytes,
});

const gatewayDocument = ({ isOn, keys, problemCodes, due, problems, ...gateway }: Content["gateway"]) => ({
  enabled: isOn,
  states: Object.fromEntries(keys.map(({ state, total }) => [state, total])),
  due,
  with_problem: problems,
  problems: problemCodes,
  revocations_pending: gateway.revocationsPending,
});
