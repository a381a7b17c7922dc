// Example filter for fail2ban over our own log: who guesses passwords, tokens or codes. `quartermaster help fail2ban` prints it.
// The lines that it reads are made in src/server/http/problems/refusal-log.ts; a test compares.
import { REFUSAL_LINES_PER_ADDRESS } from "../../server/http/problems/refusal-log.ts";

/** Reasons that an honest user meets a few times at most. */
const REASONS = ["access\\.sign_in_failed", "access\\.too_many_attempts", "scim\\.\\w+"].join("|");
const STATUSES = "(?:401|429)";

/**
 * A line of the journal or of a file: JSON, where the address stands before everything that a caller chooses. fail2ban takes
 * the beginning away up to the time, unless it has the time from the journal.
 */
const JSON_LINE = String.raw`^[^"]*(?:"ts":"[^"]*)?","level":"info","event":"http\.refused","address":"<ADDR>","status":${STATUSES},"reason":"(?:${REASONS})"`;
/** A line of a terminal or of a file: text. */
const TEXT_LINE = String.raw`^[\dTZ:.-]*\s*INFO\s+http\.refused address=<ADDR> status=${STATUSES} reason=(?:${REASONS})(?:\s|$)`;

/** The expressions of the filter; fail2ban puts its own for the address in the place of <ADDR>. */
export const FAIL_EXPRESSIONS: readonly string[] = [JSON_LINE, TEXT_LINE];

/** @returns the file for filter.d, with the jail that uses it as a comment; without a line break at its end */
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
