// The state that the running service shares with commands: its origin and its settings without secrets.
// data-directory/service-state.ts writes it to the disk.
import { type Clock, toRfc3339 } from "../../platform/clock.ts";
import { type Config, describe } from "../../platform/config/config.ts";
import { settingOf } from "../../platform/config/table.ts";
import type { ServiceState } from "../../platform/data-directory/service-state.ts";
import { VERSION } from "../../platform/version.ts";

/** @returns the state of a service that starts in this process */
export function stateOf(
  { baseUrl, address }: { baseUrl: string; address: string },
  { config, clock }: { config: Config; clock: Clock },
): ServiceState {
  const shown = describe(config).filter(({ key }) => settingOf(key).credential === undefined);
  return {
    process_id: process.pid,
    started_at: toRfc3339(clock.nowMs()),
    version: VERSION,
    origin: baseUrl,
    address,
    settings: Object.fromEntries(shown.map(({ key, value }) => [key, value])),
  };
}
