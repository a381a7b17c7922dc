// The errors of repository hosts. Their texts are fixed: they contain no address and no text from a host, because
// administrators must not learn about the operator's network.
import { codeOf, DomainError, type ErrorKind } from "../../../platform/errors.ts";

/** Outcomes of an inspection, for metrics. */
export const SOURCE_OUTCOMES = [
  "mirrored",
  "known",
  "refused",
  "host_down",
  "too_slow",
  "credential_refused",
  "rate_limited",
  "failed",
] as const;
export type SourceOutcome = (typeof SOURCE_OUTCOMES)[number];

/** @returns the outcome of an inspection that threw, for metrics */
export function outcomeOf(error: unknown): SourceOutcome {
  if (!(error instanceof DomainError)) return "failed";
  const what = error.reason.replace(/^source\./, "");
  const same = SOURCE_OUTCOMES.find((outcome) => outcome === what);
  return same ?? (error.kind === "unavailable" || error.kind === "upstream" ? "failed" : "refused");
}

const FAULTS = {
  repository_not_found: [
    "invalid",
    "the host has no such repository, or the connection may not read it",
    "check the name; a private repository needs a credential that may read it",
  ],
  ref_not_found: [
    "invalid",
    "the repository has no such branch, tag or commit",
    "name a branch, a tag or a whole commit; abbreviated commits are refused, because they may become ambiguous later",
  ],
  ref_ambiguous: [
    "invalid",
    "the repository has both a branch and a tag with that name",
    "name the commit, or rename one of them",
  ],
  renamed: [
    "forbidden",
    "the host answered for a different repository than the named one",
    "name the repository by its current name; its owner may have renamed or moved it",
  ],
  redirect_refused: [
    "invalid",
    "the host redirects the archive to an address that is not allowed",
    "the operator may add that host to download_hosts of the connection",
  ],
  credential_refused: [
    "upstream",
    "the host refused the credential of the connection",
    "the operator finds out more with `quartermaster connections verify`",
  ],
  tls_untrusted: [
    "upstream",
    "the certificate of the host is not trusted, or not for its name",
    "the operator sets ca_bundle of the connection to a PEM file with the certificate of the authority that issued it",
  ],
  bad_answer: [
    "upstream",
    "the host's response does not match the API of its provider",
    "the operator checks api_base_url and provider of the connection",
  ],
  other_commit: [
    "upstream",
    "the host sent the archive of another commit",
    "try again; if that does not help, something between this machine and the host, such as a cache, mixes up responses",
  ],
  host_down: [
    "unavailable",
    "the host cannot be reached, reports an internal error, or closed the connection early",
    "try again later; the operator finds out more with `quartermaster connections verify`",
  ],
  proxy_credential_refused: [
    "upstream",
    "the proxy between the service and the host refused the user name or the password of the service",
    "the operator corrects them in the variable that names the proxy, such as HTTPS_PROXY, and restarts the service",
  ],
  proxy_refused: [
    "upstream",
    "the proxy between the service and the host refused to connect to the host",
    "the operator allows the host at the proxy, or adds it to NO_PROXY and restarts the service",
  ],
  too_slow: [
    "unavailable",
    "the host did not finish its response within the time limit",
    "try again later; the operator finds out more with `quartermaster connections verify`",
  ],
  unfinished: [
    "unavailable",
    "this machine did not finish the archive within the time limit of an inspection",
    "try again when the machine has less to do, or mirror only a folder of the repository",
  ],
  interrupted: [
    "unavailable",
    "something else ended the process that creates the archive, for example because the machine ran out of memory",
    "try again; if that does not help, the operator finds the cause in the log of the machine",
  ],
  key_unusable: [
    "upstream",
    "the private key of the connection cannot be used",
    "the operator finds out more with `quartermaster connections verify`",
  ],
  git_missing: [
    "unavailable",
    "the service has no git program for this connection, or one that is too old",
    "the operator installs git 2.30 or later on the machine of the service",
  ],
  objects_refused: [
    "invalid",
    "git refuses an object of the commit, because it is malformed",
    "`git fsck` in a clone names the object; mirror a commit without it",
  ],
  repository_too_large: [
    "invalid",
    "the files of the commit take more than 300 MiB in the repository",
    "move large files that no package needs to another repository",
  ],
} satisfies Record<string, readonly [ErrorKind, string, string | undefined]>;

export type SourceFault = keyof typeof FAULTS;

/**
 * @param cause only its code is logged
 * @returns the error `source.<what>`
 */
export function sourceFault(what: SourceFault, cause?: unknown): DomainError {
  const [kind, message, hint] = FAULTS[what];
  const code = codeOf(cause) ?? (cause instanceof Error ? cause.name : undefined);
  return new DomainError(kind, `source.${what}`, message, {
    ...(hint !== undefined && { hint }),
    ...(code !== undefined && { cause: new Error(code) }),
  });
}

/** @param status status of a proxy that opened no tunnel to the host @returns the error `source.*` */
export const proxyFault = (status: number): DomainError =>
  sourceFault(status === 407 ? "proxy_credential_refused" : status >= 500 ? "host_down" : "proxy_refused");

export const diskFull = (cause?: unknown): DomainError =>
  new DomainError("unavailable", "artifact.disk_full", "no room left for the archive of the repository", {
    hint: "free some space in the data directory, then try again",
    cause,
  });

const RETRY_SECONDS_DEFAULT = 60;
const RETRY_SECONDS_MAX = 3_600;

/** @param seconds how long the host wants callers to wait */
export const rateLimited = (seconds: number | undefined): DomainError =>
  new DomainError(
    "too_many",
    "source.rate_limited",
    "the host has limited the requests of this connection for a while",
    {
      retryAfterSeconds: Math.min(
        RETRY_SECONDS_MAX,
        Math.max(1, Math.ceil(seconds ?? RETRY_SECONDS_DEFAULT)),
      ),
    },
  );
