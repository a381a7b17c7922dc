// Maps the messages of git to errors. git runs in one language, and no error repeats its text. Lines from the host are ignored, except
// the one that names a missing object.
import type { DomainError } from "../../../../platform/errors.ts";
import { diskFull, proxyFault, rateLimited, type SourceFault, sourceFault } from "../faults.ts";

const HOST_LINE = /^remote: /;
/** Messages of the operating system. */
const DISK_FULL = /No space left on device|Disk quota exceeded/;

/** Messages of old and new versions of libcurl. */
const PROXY_REFUSAL = /Received HTTP code (\d{3}) from proxy|CONNECT tunnel failed, response (\d{3})/;

/** The first that matches decides. */
const MEANINGS: readonly [RegExp, SourceFault][] = [
  [/not our ref|unadvertised object|no such remote ref|couldn't find remote ref/i, "ref_not_found"],
  [/remote-https' is not a git command|unable to find remote helper/, "git_missing"],
  [/could not read (?:Username|Password)|Authentication failed/, "credential_refused"],
  [/repository '.*' not found/, "repository_not_found"],
  [/fsck error|error in object|object fsck|bad (?:tree|commit|tag) object/i, "objects_refused"],
  [/not valid: is this a git repository|dumb http transport|invalid server response/, "bad_answer"],
  [/certificate|\bSSL\b|\bTLS\b|gnutls/i, "tls_untrusted"],
];

/** @returns the error for a run that failed */
export function gitFault(errors: string): DomainError {
  const lines = errors.split("\n").filter((line) => !HOST_LINE.test(line));
  const text = lines.join("\n");
  if (DISK_FULL.test(text)) return diskFull();
  const [, status] = /requested URL returned error: (\d{3})/.exec(text) ?? [];
  if (status !== undefined) return faultOfStatus(Number(status));
  const [, proxyStatus, tunnelStatus = proxyStatus] = PROXY_REFUSAL.exec(text) ?? [];
  if (tunnelStatus !== undefined) return proxyFault(Number(tunnelStatus));
  return sourceFault(MEANINGS.find(([pattern]) => pattern.test(text))?.[1] ?? "host_down");
}

function faultOfStatus(status: number): DomainError {
  if (status === 429) return rateLimited(undefined);
  if (status === 401 || status === 403) return sourceFault("credential_refused");
  if (status === 404) return sourceFault("repository_not_found");
  return sourceFault(status >= 500 ? "host_down" : "bad_answer");
}
