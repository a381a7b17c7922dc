// Reasons not to start that no single setting shows (operator-experience.md SVC-10). What is wrong with settings, keys and
// schema is said where they are read.
import { DomainError } from "../domain/errors.ts";
import { isLoopback } from "../origin.ts";
import { type Clock, DAY_MS, toRfc3339 } from "../platform/clock.ts";
import type { Config } from "../platform/config/config.ts";

/**
 * Clients are told our origin and refuse plain http to any other machine (client-and-auth.md section 1.3).
 * @throws DomainError `config.public_url_missing`
 */
export function refuseUnreachable(config: Config): void {
  if (config.get("server.public_url") !== undefined || isLoopback(config.get("server.listen"))) return;
  throw new DomainError(
    "invalid",
    "config.public_url_missing",
    "server.public_url is needed when the service listens on anything but a loopback address",
    { hint: "set it to the https origin under which clients reach the service" },
  );
}

/** How far the clock of the machine that built this program may have been ahead. */
export const CLOCK_SLACK_MS = DAY_MS;

/**
 * With a clock that was never set every token would be from the future once it is.
 * @param buildTime RFC 3339; null where the program runs from source
 * @throws DomainError `clock.before_build`
 */
export function refuseEarlyClock(clock: Clock, buildTime: string | null): void {
  if (buildTime === null || clock.nowMs() >= Date.parse(buildTime) - CLOCK_SLACK_MS) return;
  throw new DomainError(
    "unavailable",
    "clock.before_build",
    `the clock of this machine shows ${toRfc3339(clock.nowMs())}, before this program was made (${buildTime})`,
    { hint: "set the clock, for example: timedatectl set-time 'YYYY-MM-DD hh:mm:ss'" },
  );
}
