// SIGHUP and the settings (operator-experience.md SVC-4): log level and TLS files come into force at once, and every other
// change is named as one that waits for a restart. Catalog, policy and group roles have files of their own.
import { DomainError } from "../domain/errors.ts";
import { toRfc3339 } from "../platform/clock.ts";
import type { Config } from "../platform/config/config.ts";
import type { SettingName } from "../platform/config/table.ts";
import type { AdjustableLog } from "../platform/log.ts";
import type { Listener } from "../server/listen.ts";
import type { TlsFiles } from "../server/tls.ts";

interface Parts {
  /** in force since the start */
  config: Config;
  log: AdjustableLog;
  listener: Pick<Listener, "renew">;
}

/** What a reload puts in force, here or with the roles of groups; TLS only where it is on before and after. */
export const LIVE: readonly SettingName[] = ["log.level", "scim.group_role_mappings"];
export const LIVE_TLS: readonly SettingName[] = ["server.tls_cert", "server.tls_key"];

/** Reads all settings again. What is wrong is logged and changes nothing; a certificate is renewed all the same. */
export function reloadSettings({ config, log, listener }: Parts): void {
  const fresh = readAgain(config, log);
  const files = fresh && tlsOf(fresh);
  const tls = tlsOf(config) && (files ?? tlsOf(config));
  if (fresh) {
    log.setLevel(fresh.get("log.level"));
    const live = tls && files ? [...LIVE, ...LIVE_TLS] : LIVE;
    const settings = fresh.changedSince(config).filter((name) => !live.includes(name));
    if (settings.length > 0) log.warning("config.restart_needed", { settings });
  }
  if (tls) renewCertificate(tls, { log, listener });
  log.info("config.reloaded", { log_level: fresh?.get("log.level") });
}

/** @returns undefined where TLS is off */
export function tlsOf(config: Config): TlsFiles | undefined {
  const cert = config.get("server.tls_cert");
  const key = config.get("server.tls_key");
  return cert !== undefined && key !== undefined ? { cert, key } : undefined;
}

function readAgain(config: Config, log: AdjustableLog): Config | undefined {
  try {
    return config.reloaded();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    log.error("config.kept", { reason: error.reason, message: error.message });
    for (const problem of error.problems) log.error("config.problem", { ...problem });
    return undefined;
  }
}

function renewCertificate(files: TlsFiles, { log, listener }: Omit<Parts, "config">): void {
  try {
    const renewed = listener.renew(files);
    if (renewed) log.info("tls.renewed", { ...files, expires_at: toRfc3339(renewed.expiresAtMs) });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    log.error("tls.kept", { reason: error.reason, message: error.message, next: error.hint });
  }
}
