// Reloads the settings on SIGHUP. Log level, TLS files and the credentials of the object store apply immediately; the log names every other
// change as waiting for a restart. Catalog, policy, group roles and the identity provider are reloaded elsewhere.

import { toRfc3339 } from "../../../platform/clock.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { FileReading } from "../../../platform/config/file.ts";
import { SETTING_NAMES, type SettingName } from "../../../platform/config/table.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { AdjustableLog, Log } from "../../../platform/observe/log.ts";
import type { Listener } from "../../../server/listener/listen.ts";
import type { TlsFiles } from "../../../server/listener/tls.ts";
import { type Buckets, STORE_CREDENTIALS } from "../../object-store/buckets.ts";

interface Parts extends Reloading {
  log: AdjustableLog;
  listeners: readonly Pick<Listener, "renew">[];
  buckets: Pick<Buckets, "useCredentials">;
}

/** One reload. The file is read once, and each part handles a failure to read it. */
export interface Reloading {
  /** in force since the start */
  config: Config;
  log: Log;
  /** rejects with a DomainError `document.*` */
  reading: Promise<FileReading>;
}

/** Settings that a reload applies. TLS settings apply only if TLS is on before and after. */
export const RELOADABLE_SETTINGS: readonly SettingName[] = [
  "log.level",
  "scim.group_role_mappings",
  ...STORE_CREDENTIALS,
  ...SETTING_NAMES.filter((name) => name.startsWith("identity.oidc.")),
];
export const RELOADABLE_TLS_SETTINGS: readonly SettingName[] = ["server.tls_cert", "server.tls_key"];

/**
 * Reads all settings again. Errors are logged and change nothing; the certificate is renewed even then.
 * @returns the settings; undefined if they are invalid
 */
export async function reloadSettings({
  config,
  log,
  reading,
  listeners,
  buckets,
}: Parts): Promise<Config | undefined> {
  const fresh = await readSettingsAgain({ config, log, reading });
  const files = fresh && tlsOf(fresh);
  const tls = tlsOf(config) && (files ?? tlsOf(config));
  if (fresh) {
    log.setLevel(fresh.get("log.level"));
    buckets.useCredentials(fresh);
    const live = tls && files ? [...RELOADABLE_SETTINGS, ...RELOADABLE_TLS_SETTINGS] : RELOADABLE_SETTINGS;
    const settings = fresh.changedSince(config).filter((name) => !live.includes(name));
    if (settings.length > 0) log.warning("config.restart_required", { settings });
  }
  if (tls) renewCertificate(tls, { log, listeners });
  if (fresh) log.info("config.reloaded", { log_level: fresh.get("log.level") });
  return fresh;
}

/** @returns undefined if TLS is off */
export function tlsOf(config: Config): TlsFiles | undefined {
  const cert = config.get("server.tls_cert");
  const key = config.get("server.tls_key");
  return cert !== undefined && key !== undefined ? { cert, key } : undefined;
}

async function readSettingsAgain({ config, log, reading }: Reloading): Promise<Config | undefined> {
  try {
    return config.reloadedFrom(await reading);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    log.error("config.rejected", { reason: error.reason, message: error.message });
    for (const problem of error.problems) log.error("config.problem", { ...problem });
    return undefined;
  }
}

function renewCertificate(files: TlsFiles, { log, listeners }: Pick<Parts, "log" | "listeners">): void {
  try {
    const [renewed] = listeners.map((listener) => listener.renew(files));
    if (renewed) log.info("tls.renewed", { ...files, expires_at: toRfc3339(renewed.expiresAtMs) });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    log.error("tls.rejected", { reason: error.reason, message: error.message, next: error.hint });
  }
}
