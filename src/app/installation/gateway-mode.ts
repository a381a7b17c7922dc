// Sets up gateway mode from the configuration: selects the provisioner, and checks before the service starts that a configured
// executable may be run.
import { join } from "node:path";
import type { GatewayMode } from "../../domain/gateway/dependencies.ts";
import { configurationDigest } from "../../domain/gateway/keys/configuration-digest.ts";
import {
  checkExecutable,
  createExecutableProvisioner,
} from "../../domain/gateway/provisioners/executable/executable.ts";
import { createLitellmProvisioner } from "../../domain/gateway/provisioners/litellm/litellm.ts";
import { createAdminRequest } from "../../domain/gateway/provisioners/litellm/litellm-request.ts";
import type { Provisioner } from "../../domain/gateway/provisioners/provisioner.ts";
import type { GatewaySettings } from "../../domain/gateway/settings.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { DomainError } from "../../platform/errors.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import { PinnedExecutable } from "../../platform/programs/pinned-executable.ts";
import { GATEWAY_DESTINATION } from "./destinations.ts";
import { gatewaySettingsOf, provisionerSettingsOf } from "./gateway-settings.ts";

/** Folder in the data directory for the copy of the executable that is run. */
const PROVISIONER_DIRECTORY = "provisioner";

interface ModeOptions {
  config: Config;
  clock: Clock;
  directory: DataDirectory;
  outbound: Outbound;
  baseUrl(): string;
}

/** @returns undefined if gateway mode is off; contacts nothing and runs nothing */
export function gatewayModeOf({ config, baseUrl, ...machine }: ModeOptions): GatewayMode | undefined {
  const settings = gatewaySettingsOf(config, baseUrl);
  return (
    settings && {
      settings,
      provisioner: provisionerOf(settings, machine),
      configurationDigest: configurationDigest(settings),
    }
  );
}

function provisionerOf(
  settings: GatewaySettings,
  { clock, directory, outbound }: Pick<ModeOptions, "clock" | "directory" | "outbound">,
): Provisioner {
  const { provisioner } = settings;
  if (provisioner.executable) {
    const pinned = new PinnedExecutable(provisioner.executable, join(directory.path, PROVISIONER_DIRECTORY));
    return createExecutableProvisioner({
      settings: provisioner,
      run: (invocation, signal) => pinned.run(invocation, signal),
    });
  }
  const request = createAdminRequest(outbound, GATEWAY_DESTINATION);
  return createLitellmProvisioner({ settings, request, clock });
}

/**
 * Rejects an unsafe executable before the service starts.
 * @throws DomainError `config.invalid`
 */
export function assertExecutableUsable(config: Config): void {
  const problems = config.has("gateway.type") ? checkExecutable(provisionerSettingsOf(config)) : [];
  if (problems.length === 0) return;
  throw new DomainError("invalid", "config.invalid", "the executable that creates gateway keys is refused", {
    hint: "correct the listed problems, or pin the current executable",
    problems,
  });
}
