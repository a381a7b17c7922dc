// Example fail2ban filter for our own log, against addresses that guess passwords, tokens or codes. `quartermaster help
// fail2ban` prints it. src/server/http/problems/refusal-log.ts writes the lines that it matches; a test compares them.
import { REFUSAL_LINES_PER_ADDRESS } from "../../server/http/problems/refusal-log.ts";

/** Reasons that an honest user triggers at most a few times. */
const REASONS = ["access\\.sign_in_failed", "access\\.too_many_attempts", "scim\\.\\w+"].join("|");
const STATUSES = "(?:401|429)";

/**
 * A JSON line from the journal or a file. The address comes before every field that a caller controls. fail2ban cuts the line's
 * beginning up to the timestamp, unless the journal supplies the timestamp.
 */
const JSON_LINE = String.raw`^[^"]*(?:"ts":"[^"]*)?","level":"info","event":"http\.refused","address":"<ADDR>","status":${STATUSES},"reason":"(?:${REASONS})"`;
/** A text line from a terminal or a file. */
const TEXT_LINE = String.raw`^[\dTZ:.-]*\s*INFO\s+http\.refused address=<ADDR> status=${STATUSES} reason=(?:${REASONS})(?:\s|$)`;

/** The regular expressions of the filter; fail2ban replaces <ADDR> with its own expression for addresses. */
export const FAIL_EXPRESSIONS: readonly string[] = [JSON_LINE, TEXT_LINE];

/** @returns the file for filter.d, with the matching jail as a comment; without a trailing newline */
export const fail2banFilter =
  (): string => `# Filter of fail2ban for Quartermaster: addresses that guess passwords, codes or tokens.
#
#   quartermaster help fail2ban > /etc/fail2ban/filter.d/quartermaster.conf
#   fail2ban-regex systemd-journal quartermaster
#
# A jail for it, in /etc/fail2ban/jail.d/quartermaster.local:
#
#   [quartermaster]
#   enabled  = true
#   backend  = systemd
#   port     = http,https
#   maxretry = 20
#   findtime = 15m
#   bantime  = 1h
#
# Behind a reverse proxy the log has the addresses that the proxy reports; ban them at the proxy.
# In a flood some lines of an address are left out and counted in http.refusals_counted. The first
# ${REFUSAL_LINES_PER_ADDRESS.burst} of each address are always there, unless many addresses come at once.

[Definition]
failregex = ${FAIL_EXPRESSIONS.join("\n            ")}
ignoreregex =
datepattern = ^[^{]*\\{"ts":"%%Y-%%m-%%dT%%H:%%M:%%S(?:\\.%%f)?%%z
              ^%%Y-%%m-%%dT%%H:%%M:%%S(?:\\.%%f)?%%z
journalmatch = _SYSTEMD_UNIT=quartermaster.service`;
