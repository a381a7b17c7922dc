// The settings of company sign-in at a start and a reload: records changes in the audit log, and applies new settings.
import type { Actor } from "../../../domain/shared/actor.ts";
import type { Sso } from "../../../domain/sso/service.ts";
import type { Config } from "../../../platform/config/config.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Installation } from "../../installation/installation.ts";
import { isSameProvider, ssoSettingsOf } from "../../installation/sso-settings.ts";

/** The part of an installation that concerns the provider. */
type ProviderPart = { domain: { sso: Pick<Sso, "settings" | "recordChange"> } };

interface Parts {
  actor: Actor;
  log: Log;
}

/** Logs the current provider. */
export async function startProvider({ domain: { sso } }: ProviderPart, { actor, log }: Parts): Promise<void> {
  const changed = await sso.recordChange(actor);
  const settings = sso.settings();
  if (settings) {
    const { issuer, provisioning } = settings;
    log.info("sso.provider", { issuer, provisioning, changed, next: "quartermaster sso verify" });
  } else if (changed) log.warning("sso.no_provider");
}

/**
 * Applies the settings of a reload. Unusable settings are logged and change nothing; running sign-ins continue.
 * @param fresh undefined after a failed read of the configuration, which was logged
 */
export async function reloadProvider(
  installation: ProviderPart & Pick<Installation, "useSsoSettings">,
  { fresh, actor, log }: Parts & { fresh: Config | undefined },
): Promise<void> {
  if (!fresh) return;
  try {
    const settings = ssoSettingsOf(fresh);
    if (isSameProvider(settings, installation.domain.sso.settings())) return;
    installation.useSsoSettings(settings);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    log.error("sso.settings_rejected", { reason: error.reason, message: error.message });
    for (const problem of error.problems) log.error("sso.settings_problem", { ...problem });
    return;
  }
  await startProvider(installation, { actor, log });
}
