// Checks a repository host before anyone mirrors from it; each check gives one finding.
import { type Clock, SECOND_MS } from "../../../platform/clock.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Connection, Provider } from "./connection.ts";
import { type Coordinates, isInNamespaces, isRef, isRepository } from "./coordinates.ts";
import { HOSTS } from "./hosts/hosts.ts";
import type { HostRequests } from "./hosts/requests.ts";
import { type Resolved, resolveRef } from "./resolve.ts";

/** GitHub refuses an app's signature if the clocks differ by more. */
const CLOCK_DIFFERENCE_MAX_SECONDS = 60;

/** What each host calls the permission to read a repository. */
const RIGHTS: Readonly<Record<Provider, string>> = {
  github: 'the repository permission "Contents: read-only"',
  gitlab: "the scope read_api",
  gitea: "the scope read:repository",
  bitbucket_data_center: 'the permission "Repository read"',
  bitbucket_cloud: 'the permission "Repositories: Read"',
  git: "the permission to read",
};

/** Remedies for the operator, who runs the verification; the hints of the errors are for administrators. */
const REMEDIES: Readonly<Record<string, string>> = {
  "source.tls_untrusted":
    "set ca_bundle of the connection to a PEM file with the certificate of the authority that issued it",
  "source.host_down": "check api_base_url of the connection, and that this machine reaches that address",
  "source.proxy_credential_refused":
    "correct the user name and the password in the variable that names the proxy, such as HTTPS_PROXY",
  "source.proxy_refused": "allow the host at the proxy, or add it to NO_PROXY",
  "source.bad_answer": "check api_base_url and provider of the connection",
  "source.key_unusable": "replace private_key of the connection with an RSA key of the GitHub App",
};

/** The result of one check, in the form of `doctor`. */
export interface ConnectionFinding {
  /** name in snake_case */
  check: string;
  result: "ok" | "warning" | "failed" | "skipped";
  detail: string;
  /** how to fix it; null if there is nothing to fix */
  remedy: string | null;
}

export interface VerifyParts {
  connection: Connection;
  requests: HostRequests;
  clock: Clock;
  /** what to read; without it only the host is checked */
  wanted: Pick<Coordinates, "repository" | "ref"> | undefined;
}

export interface Verification {
  /** in the order of the checks */
  findings: ConnectionFinding[];
  /** whether the host accepted the credential, or why the host was not reached; undefined if the credential was not sent */
  outcome: { error: DomainError | undefined } | undefined;
}

/** Returns an error of the host as a finding instead of rejecting. */
export async function verifyConnection(parts: VerifyParts): Promise<Verification> {
  const { connection, requests, clock, wanted } = parts;
  const git = connection.clone ? [await gitFinding(requests)] : [];
  const reached = await attempt("host", () => requests.probe());
  if ("failed" in reached)
    return {
      findings: [...git, reached.failed, ...["clock", "repository"].map(skipped)],
      outcome: { error: reached.error },
    };
  const answered = [
    ...git,
    ok("host", `${new URL(connection.apiBase).origin} answers, and its certificate is trusted`),
    clockFinding(reached.value.date, { connection, clock }),
  ];
  const unasked = (finding: ConnectionFinding) => ({ findings: [...answered, finding], outcome: undefined });
  if (!wanted)
    return unasked(notAsked("repository", "add --repository NAMESPACE/NAME to test the credential"));
  const problem = wantedProblem(connection, wanted);
  if (problem !== undefined) return unasked(failed("repository", problem, WANTED_REMEDY));
  const { findings, outcome } = await verifyRepository(parts, wanted);
  return { findings: [...answered, ...findings], outcome };
}

/** Only hosts whose archives come through git need the program. */
async function gitFinding(requests: HostRequests): Promise<ConnectionFinding> {
  const found = await attempt("git", () => requests.clones.version());
  return "failed" in found ? found.failed : ok("git", `the git program has version ${found.value}`);
}

const WANTED_REMEDY =
  "name another repository or ref, or add the namespace to organizations of the connection";

async function verifyRepository(
  { connection, requests }: VerifyParts,
  wanted: Pick<Coordinates, "repository" | "ref">,
): Promise<Verification> {
  const host = HOSTS[connection.provider];
  const found = await attempt("repository", () => resolveRef(host, requests, wanted), connection.provider);
  if ("failed" in found)
    return { findings: [found.failed, skipped("scope")], outcome: { error: found.error } };
  const { commit, kind }: Resolved = found.value;
  const findings = [
    ok("repository", `${wanted.ref} of ${wanted.repository} is a ${kind}, at the commit ${commit}`),
    await scopeFinding(connection, requests, wanted.repository),
  ];
  return { findings, outcome: { error: undefined } };
}

async function scopeFinding(
  { provider }: Connection,
  requests: HostRequests,
  repository: string,
): Promise<ConnectionFinding> {
  const mayWrite = await HOSTS[provider].mayWrite?.(requests, repository).catch(() => undefined);
  if (mayWrite === undefined)
    return notAsked("scope", "the host does not say what else the credential may do");
  return mayWrite
    ? {
        check: "scope",
        result: "warning",
        detail: "the credential may also write",
        remedy: `give the connection a credential that has only ${RIGHTS[provider]}`,
      }
    : ok("scope", "the credential may only read");
}

const wantedProblem = (
  { provider, namespaces }: Connection,
  { repository, ref }: Pick<Coordinates, "repository" | "ref">,
): string | undefined => {
  if (!isRepository(repository, { nested: HOSTS[provider].isNested })) return "it must be namespace/name";
  if (!isRef(ref)) return "the ref must be a branch, a tag or a whole commit";
  return isInNamespaces(repository, namespaces)
    ? undefined
    : "the connection does not include that namespace for the organization";
};

/** Only an app's signature depends on the clock; a token does not. */
function clockFinding(
  date: string | undefined,
  { connection, clock }: Pick<VerifyParts, "connection" | "clock">,
): ConnectionFinding {
  const theirs = Date.parse(date ?? "");
  if (Number.isNaN(theirs)) return notAsked("clock", "the host does not send its time");
  const seconds = Math.round(Math.abs(clock.nowMs() - theirs) / SECOND_MS);
  const detail = `differs from the clock of the host by ${seconds} s`;
  if (seconds <= CLOCK_DIFFERENCE_MAX_SECONDS) return ok("clock", detail);
  const remedy = "set the clock of this machine, for example with chrony";
  return connection.credential().kind === "app"
    ? failed("clock", `${detail}, so GitHub refuses the app's signatures`, remedy)
    : { check: "clock", result: "warning", detail, remedy };
}

type Attempted<T> = { value: T } | { failed: ConnectionFinding; error: DomainError };

async function attempt<T>(check: string, work: () => Promise<T>, provider?: Provider): Promise<Attempted<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const { reason, message, hint } = error;
    const isRight = ["source.credential_refused", "source.repository_not_found"].includes(reason);
    const remedy =
      isRight && provider
        ? `renew the credential, and give it ${RIGHTS[provider]} for that repository`
        : (REMEDIES[reason] ?? hint ?? "see the handbook: quartermaster help repositories");
    return { failed: failed(check, message, remedy), error };
  }
}

const ok = (check: string, detail: string): ConnectionFinding => ({
  check,
  result: "ok",
  detail,
  remedy: null,
});
const failed = (check: string, detail: string, remedy: string): ConnectionFinding => ({
  check,
  result: "failed",
  detail,
  remedy,
});
const notAsked = (check: string, detail: string): ConnectionFinding => ({
  check,
  result: "skipped",
  detail,
  remedy: null,
});
const skipped = (check: string): ConnectionFinding => notAsked(check, "an earlier check failed");
