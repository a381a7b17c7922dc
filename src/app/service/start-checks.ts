// Checks before a start that go beyond the form of a single setting, for `serve`, `config check` and `doctor`. No check
// binds an address, opens the data directory, or changes anything.

import { type Clock, DAY_MS, toRfc3339 } from "../../platform/clock.ts";
import type { Listen } from "../../platform/config/addresses.ts";
import type { Config } from "../../platform/config/config.ts";
import { decodeKey } from "../../platform/crypto/sealing-keys.ts";
import { DomainError } from "../../platform/errors.ts";
import { BUILD_TIME } from "../../platform/version.ts";
import { readCertificate } from "../../server/listener/tls.ts";
import { receiverTlsOf } from "../audit-forwarding/receiver.ts";
import { readHarnessFacts } from "../files/harness-facts-file.ts";
import { findPlaceProblems } from "../files/place-checks.ts";
import { assertExecutableUsable } from "../installation/gateway-mode.ts";
import { isLoopback } from "../installation/origin.ts";
import { ssoSettingsOf } from "../installation/sso-settings.ts";
import { collectorTlsOf } from "../tracing/collector-settings.ts";
import { tlsOf } from "./configuration/settings-reload.ts";
import { separateProxyListener } from "./divided/division.ts";

/** Finds problems that prevent the service from starting. */
type StartCheck = (config: Config) => DomainError[];

/** @returns the problem that a check throws */
function found(check: () => void): DomainError[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof DomainError) return [error];
    throw error;
  }
}

/** Checks of the settings and of the programs that they name. */
export const SETTINGS_CHECKS: readonly StartCheck[] = [
  (config) => found(() => assertBindable(config)),
  (config) => found(() => assertExecutableUsable(config)),
  (config) => found(() => void receiverTlsOf(config)),
  (config) => found(() => void collectorTlsOf(config)),
];

const certificateProblems: StartCheck = (config) => {
  const files = tlsOf(config);
  return files ? found(() => readCertificate(files)) : [];
};

/**
 * Runs all checks that need neither the data directory nor a socket.
 * @param others problems that the caller has found
 * @throws DomainError the one problem, or `start.refused` with all of them
 */
export function assertStartable(config: Config, clock: Clock, others: readonly DomainError[] = []): void {
  throwProblems([
    ...found(() => assertClockPlausible(clock, BUILD_TIME)),
    ...SETTINGS_CHECKS.flatMap((find) => find(config)),
    ...certificateProblems(config),
    ...findPlaceProblems(config, addressesOf(config)),
    ...found(() => assertSealingKeyReadable(config)),
    ...found(() => void readHarnessFacts(config)),
    ...found(() => void ssoSettingsOf(config)),
    ...others,
  ]);
}

function addressesOf(config: Config): Listen[] {
  const own = separateProxyListener(config);
  return own ? [config.get("server.listen"), own] : [config.get("server.listen")];
}

/** @throws DomainError the one problem, or `start.refused` with all of them; does nothing if the list is empty */
export function throwProblems(found: readonly DomainError[]): void {
  const [only, ...others] = found;
  if (!only) return;
  if (others.length === 0) throw only;
  throw new DomainError("invalid", "start.refused", "several problems prevent the service from starting", {
    hint: "correct each problem; `quartermaster config check` tests the result without starting anything",
    problems: found.flatMap(problemsOf),
  });
}

const problemsOf = ({ message, hint, problems }: DomainError) =>
  problems.length > 0
    ? problems
    : [{ pointer: "", detail: hint === undefined ? message : `${message}; ${hint}` }];

/**
 * Clients learn our origin and reject plain http to any other machine.
 * @throws DomainError `config.public_url_missing`
 */
function assertBindable(config: Config): void {
  if (config.get("server.public_url") !== undefined || isLoopback(config.get("server.listen"))) return;
  throw new DomainError(
    "invalid",
    "config.public_url_missing",
    "server.public_url is required if the service listens on an address that is not loopback",
    { hint: "set it to the https origin at which workstations reach the service" },
  );
}

/** @throws DomainError `sealing.key_invalid`; a key in the data directory is read when that is opened */
function assertSealingKeyReadable(config: Config): void {
  const provided = config.get("keys.sealing_key");
  if (provided) decodeKey(provided.reveal(), "keys.sealing_key");
}

/** Tolerated error of the build machine's clock. */
export const CLOCK_SLACK_MS = DAY_MS;

/**
 * If the clock was never set, tokens issued now would look invalid once it is corrected.
 * @param buildTime RFC 3339; null if the program runs from source
 * @throws DomainError `clock.before_build`
 */
export function assertClockPlausible(clock: Clock, buildTime: string | null): void {
  if (buildTime === null || clock.nowMs() >= Date.parse(buildTime) - CLOCK_SLACK_MS) return;
  throw new DomainError(
    "unavailable",
    "clock.before_build",
    `the clock of this machine shows ${toRfc3339(clock.nowMs())}, before this program was built (${buildTime})`,
    { hint: "set the clock, for example: timedatectl set-time 'YYYY-MM-DD hh:mm:ss'" },
  );
}
