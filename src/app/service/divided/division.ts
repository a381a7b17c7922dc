// Divides one installation between two processes: one only forwards inference, and the other does everything else.
// Inference then has its own core, and a restart of one process does not affect the other.
import type { Clock } from "../../../platform/clock.ts";
import type { Listen } from "../../../platform/config/addresses.ts";
import type { Config } from "../../../platform/config/config.ts";
import {
  type DataDirectory,
  forgetKilledForwarder,
  lockForForwarding,
} from "../../../platform/data-directory/data-directory.ts";
import { DomainError } from "../../../platform/errors.ts";
import { isProxyInProcess } from "../../installation/proxy-settings.ts";

/** A part that a process can be limited to. */
export type Part = "control" | "proxy";

/** @returns the problems of dividing the service with these settings; empty without problems and for a single process */
export function problemsOfDivision(config: Config, only: Part | undefined): DomainError[] {
  if (only === undefined) return [];
  if (!isProxyInProcess(config)) return [notForwarding(only)];
  return config.get("gateway.proxy.listen") === undefined ? [noListener(only)] : [];
}

/** @returns the address of the separate listener for inference; undefined if this process does not open it */
export const separateProxyListener = (config: Config, only?: Part): Listen | undefined =>
  only !== "control" && isProxyInProcess(config) ? config.get("gateway.proxy.listen") : undefined;

/**
 * Locks the separate listener for inference if this process will open it, because only one process may.
 * @returns the function that releases it
 * @throws DomainError `data_dir.forwarding`
 */
export function lockProxyListener(
  directory: DataDirectory,
  { config, clock, only }: { config: Config; clock: Clock; only?: Part | undefined },
): () => void {
  if (separateProxyListener(config, only)) return lockForForwarding(directory, clock).release;
  forgetKilledForwarder(directory);
  return () => {};
}

const notForwarding = (only: Part): DomainError =>
  new DomainError(
    "invalid",
    "start.not_forwarding",
    `serve --only ${only} needs an installation that forwards inference, and these settings do not enable that`,
    { hint: "set gateway.type and its related settings, or omit --only" },
  );

const noListener = (only: Part): DomainError =>
  new DomainError(
    "invalid",
    "start.no_proxy_listener",
    `serve --only ${only} needs gateway.proxy.listen: the two processes cannot share one listener`,
    { hint: "set gateway.proxy.listen and gateway.inference_proxy_url, or omit --only" },
  );
