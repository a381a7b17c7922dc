// Checks what the database and the data directory contain: keys, policy, jobs, artifacts, gateway keys, and with --deep the bytes
// of every artifact and the chain of the audit log.

import { TOKEN_BYTES_MAX } from "../../domain/access/authentication/verified-tokens.ts";
import type { Domain } from "../../domain/domain.ts";
import { DRAFT_DAYS_MAX } from "../../domain/governance/drafts/draft-model.ts";
import { CANNOT_SIGN_IN_REMEDY, cannotSignInText } from "../../domain/identity/service.ts";
import { isReportedByBrowser, operatorRemedy } from "../../domain/sso/service.ts";
import { isOverdue, type JobView } from "../../domain/system/jobs.ts";
import { untrustedProxyRemedy, untrustedProxyText } from "../../domain/system/untrusted-proxies.ts";
import { DAY_MS, toRfc3339 } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { countText } from "../../platform/count-text.ts";
import { RESTORE_KEY } from "../../platform/crypto/sealing-keys.ts";
import { bytesText, FREE_BYTES_MIN } from "../../platform/files/disk.ts";
import { nameList } from "../../platform/text/name-list.ts";
import { trustedPeerCheck } from "../../server/listener/peer-address.ts";
import { lacksScimToken, NO_SCIM_TOKEN } from "../service/configuration/provisioning-start.ts";
import type { Check, Finding } from "./finding.ts";

export interface Examined {
  domain: Domain;
  config: Config;
  organizationId: string;
  nowMs: number;
  isServiceRunning: boolean;
}

/** Reports the progress of long checks. */
interface Watch extends Disposable {
  advance(amount: number): void;
}
export type StartWatch = (work: { label: string; unit: string; total: number }) => Watch;

/** Checks that every sealed value opens with an available key. */
export function checkSealingKeys(check: Check, { domain }: Examined): Finding {
  const keys = domain.sealingKeys.list();
  const missing = keys.filter(({ state }) => state === "missing");
  if (missing.length === 0) return check.ok(`${keys.length} available, none missing`);
  const named = missing.map(({ id, total }) => `${id} (${total} secrets are sealed with it)`).join(", ");
  return check.failed(
    `missing: ${named}`,
    `pass the configuration file of the service with --config, or ${RESTORE_KEY}`,
  );
}

/** @throws DomainError `signing_key.missing`, `sealing.*` */
export function checkSigningKeys(check: Check, { domain }: Examined): Finding {
  domain.access.keys.signer();
  if (domain.inference.signingKeys?.list().length === 0)
    return check.warning("there is no key for inference tokens", "start the service, which creates one");
  domain.inference.signingKeys?.signer();
  return check.ok("tokens can be signed");
}

export function checkTokenMemory(check: Check, { domain, config, organizationId }: Examined): Finding {
  const { current, outdated, attention } = domain.clients.inventory.counts(organizationId);
  const workstations = current + outdated + attention;
  return tokenMemoryFinding(check, { workstations, sizeMb: config.get("access.token_memory_mb") });
}

/** @param memory compared with the number of workstations: each has one access token */
export function tokenMemoryFinding(
  check: Check,
  { workstations, sizeMb }: { workstations: number; sizeMb: number },
): Finding {
  const tokens = Math.floor((sizeMb * BYTES_PER_MB) / TOKEN_BYTES_MAX);
  const detail = `${sizeMb} MB hold ${tokens} tokens, and ${workstations} workstations report`;
  if (workstations <= tokens) return check.ok(detail);
  const neededMb = Math.ceil((workstations * TOKEN_BYTES_MAX) / BYTES_PER_MB);
  return check.warning(
    `${detail}; tokens that do not fit are verified at every request`,
    `set access.token_memory_mb to at least ${neededMb}, and restart the service`,
  );
}

const BYTES_PER_MB = 1024 * 1024;

export function checkPolicy(
  check: Check,
  { domain, organizationId }: Pick<Examined, "domain" | "organizationId">,
): Finding {
  const revision = domain.governance.revisions.current(organizationId);
  if (!revision)
    return check.warning(
      "no policy is published",
      "start the service, or publish one: quartermaster policy apply FILE",
    );
  const [wrong] = domain.governance.uploadWarnings(revision);
  return wrong
    ? check.warning(`${wrong.pointer} ${wrong.detail}`, "correct it: quartermaster policy apply FILE")
    : check.ok(`revision ${revision.id} is in force`);
}

/** Remaining lifetime of a draft below which it is reported. */
export const DRAFT_WARNING_DAYS = 7;

/** Reports drafts of the policy that expire soon because nobody has saved them. */
export function checkPolicyDrafts(
  check: Check,
  { domain, organizationId, nowMs }: Pick<Examined, "domain" | "organizationId" | "nowMs">,
): Finding {
  const drafts = domain.governance.drafts.list(organizationId);
  const savedBeforeMs = nowMs - (DRAFT_DAYS_MAX - DRAFT_WARNING_DAYS) * DAY_MS;
  const ending = drafts.filter(({ savedAtMs }) => savedAtMs <= savedBeforeMs);
  const [first] = ending; // the oldest one
  if (!first) return check.ok(countText(drafts.length, "draft of the policy", "drafts of the policy"));
  const { email } = domain.identity.users.find(organizationId, first.ownerId);
  const endsAt = toRfc3339(first.savedAtMs + DRAFT_DAYS_MAX * DAY_MS);
  const others = ending.length === 1 ? "" : `, and ${ending.length - 1} more end soon`;
  return check.warning(
    `the draft of ${email} ends at ${endsAt}, because nobody has saved it for weeks${others}`,
    `see it with quartermaster policy draft show ${email}; then publish, save or discard it`,
  );
}

/** @returns a finding for each job with a problem */
export function checkJobs(check: Check, { domain, nowMs, isServiceRunning }: Examined): Finding[] {
  const jobs = domain.jobs.list();
  const wrong = jobs.flatMap((job) => {
    const { name, outcome, error, paused } = job;
    const remedy = `see the log of the service, then: quartermaster jobs run ${name}`;
    return [
      ...overdueFindings(check, job, { nowMs, isServiceRunning }),
      ...(outcome === "failed" || outcome === "timed_out"
        ? [check.failed(`${name} ${outcome.replace("_", " ")}: ${error ?? "no reason given"}`, remedy)]
        : []),
      ...(paused ? [check.warning(`${name} is paused`, `quartermaster jobs resume ${name}`)] : []),
    ];
  });
  return wrong.length === 0 ? [check.ok(`${jobs.length} jobs, none failed`)] : wrong;
}

function overdueFindings(
  check: Check,
  job: JobView,
  { nowMs, isServiceRunning }: Pick<Examined, "nowMs" | "isServiceRunning">,
): Finding[] {
  const text = `${job.name} was due at ${toRfc3339(job.nextRunAtMs)}`;
  if (isServiceRunning)
    return isOverdue(job, nowMs) ? [check.failed(text, "see the log of the service, then restart it")] : [];
  // The service is stopped, so the job is not running, even if a killed process left its lease.
  const state = job.state === "running" && !job.paused ? "due" : job.state;
  const remedy = "start the service, which runs it immediately";
  return isOverdue({ ...job, state }, nowMs)
    ? [check.warning(`${text}, and no service runs it`, remedy)]
    : [];
}

/** Reports a forwarding proxy that is not in the trusted proxies of this configuration. */
export function checkProxy(check: Check, { domain, config }: Examined): Finding {
  const seen = domain.untrustedProxies.find(trustedPeerCheck(config.get("server.trusted_proxies")));
  if (!seen) return check.ok("no untrusted peer forwarded an address");
  const detail = `${untrustedProxyText(seen)} (last seen at ${toRfc3339(seen.seenAtMs)})`;
  return check.warning(detail, untrustedProxyRemedy(seen.peer));
}

/** Reports provisioned users who have no way to sign in. */
export function checkProvisioning(
  check: Check,
  { domain, organizationId }: Pick<Examined, "domain" | "organizationId">,
): Finding {
  const count = domain.identity.provisioned.countCannotSignIn(organizationId);
  return count > 0
    ? check.warning(cannotSignInText(count), CANNOT_SIGN_IN_REMEDY)
    : check.ok("no provisioned user lacks a way to sign in");
}

/** Makes the same checks as `sso verify`. @returns a finding for each problem */
export async function checkIdentityProvider(
  check: Check,
  { domain: { sso, scim, access }, organizationId }: Pick<Examined, "domain" | "organizationId">,
): Promise<Finding[]> {
  if (!sso.settings() && access.settings.identityMode === "oidc")
    return [check.warning("none is configured: only the first administrator can sign in", SET_ISSUER)];
  if (!sso.settings()) return [check.ok("none is configured: people sign in with passwords")];
  if (lacksScimToken({ sso, scim }, organizationId))
    return [check.failed(`the service does not start: ${NO_SCIM_TOKEN.text}`, NO_SCIM_TOKEN.remedy)];
  const findings = await sso.verify(organizationId);
  const wrong = findings.flatMap(({ result, detail, remedy }) => {
    if (result === "failed") return [check.failed(detail, remedy ?? SEE_VERIFY)];
    return result === "warning" ? [check.warning(detail, remedy ?? SEE_VERIFY)] : [];
  });
  if (wrong.length > 0) return wrong;
  return [lastSignInFinding(check, sso.status().last_error_reason)];
}

/** A failure that only a browser reported gives no warning, because anybody could cause one. */
function lastSignInFinding(check: Check, reason: string | null): Finding {
  if (reason === null)
    return check.ok("sign-in at the identity provider passes all checks that need no sign-in");
  const remedy = operatorRemedy(reason) ?? SEE_LOG;
  return isReportedByBrowser(reason)
    ? check.ok(`a browser returned with ${reason}: ${remedy}`)
    : check.warning(`the last sign-in failed: ${reason}`, remedy);
}

const SET_ISSUER = "set identity.oidc.issuer, or identity.mode to password";
const SEE_VERIFY = "quartermaster sso verify";
const SEE_LOG = "see the log of the service";

export async function checkArtifactStore(check: Check, { domain }: Examined): Promise<Finding> {
  const state = await domain.health.packageStorage();
  if (state === "usable") return check.ok("artifacts can be read and written");
  return state === "full"
    ? check.failed(
        `less than ${bytesText(FREE_BYTES_MIN)} are free: artifacts can be read, but new ones may be refused`,
        "free some space: see the check disk",
      )
    : check.failed("artifacts cannot be read or written", "check the owner and mode of the folder artifacts");
}

/** @returns a finding for each problem with gateway keys */
export function checkGatewayKeys(check: Check, { domain: { gateway } }: Examined): Finding[] {
  const { problems, revocationsPending } = gateway.figures();
  const codes = gateway.problems().map(({ code, total }) => `${total} ${code}`);
  const found = [
    ...(problems > 0
      ? [check.warning(`with a problem: ${codes.join(", ")}`, "quartermaster keys list --problems")]
      : []),
    ...(revocationsPending > 0 && !gateway.mode
      ? [
          check.warning(
            `${revocationsPending} revocations are pending, but gateway mode is off in these settings`,
            "pass the configuration file of the service with --config, or turn gateway mode on again",
          ),
        ]
      : []),
  ];
  if (found.length > 0) return found;
  return [check.ok(gateway.mode ? "no key has a problem" : "gateway mode is off in these settings")];
}

/** Reads every stored artifact and verifies its digest. */
export async function checkArtifacts(
  check: Check,
  { domain, organizationId }: Examined,
  start: StartWatch,
): Promise<Finding> {
  const { count, sizeBytes: total } = domain.catalog.artifactTotals(organizationId);
  using watch = start({ label: "verifying artifacts", unit: "bytes", total });
  const broken: string[] = [];
  for await (const { sha256, sizeBytes, result } of domain.catalog.verify(organizationId)) {
    if (result !== "intact") broken.push(`${result} sha256:${sha256}`);
    watch.advance(sizeBytes);
  }
  if (broken.length === 0) return check.ok(`${count} intact`);
  return check.failed(
    `${broken.length} of ${count} are damaged or missing: ${nameList(broken)}`,
    "find the packages that need them: quartermaster catalog verify; store the archives again (quartermaster catalog seed or import), or restore the last backup",
  );
}

/** Reads the whole audit log and verifies its chain. */
export async function checkAuditChain(
  check: Check,
  { domain }: Examined,
  start: StartWatch,
): Promise<Finding> {
  using watch = start({ label: "verifying the audit log", unit: "entries", total: domain.auditLog.size() });
  const { entries, removed, broken } = await domain.auditLog.verify({ advance: watch.advance });
  const gone = removed === 0 ? "" : `, after ${removed} that retention has removed`;
  if (broken === undefined) return check.ok(`${entries} entries verified${gone}`);
  return check.failed(
    `the audit log is broken after ${entries} valid entries`,
    "find the place: quartermaster audit verify; compare the log with an earlier export",
  );
}
