// Builds the settings of the domain from the configuration. Values that a reload may replace are read through functions.
import type { DomainOptions } from "../../domain/domain.ts";
import type { LogArchive } from "../../domain/inference/log/log-archive.ts";
import type { ServiceLog } from "../../domain/inference/log/writing/running-log.ts";
import type { FlushUsage } from "../../domain/inference/usage/usage-sums.ts";
import type { SsoSettings } from "../../domain/sso/settings.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Values } from "../../platform/config/table.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";

const MEBIBYTE = 1024 * 1024;

type RoleMappings = DomainOptions["settings"]["scim"]["groupRoleMappings"];

/** @returns the role of each mapped group, by its name */
export const mappingsIn = (setting: Values["scim.group_role_mappings"]): RoleMappings =>
  Object.fromEntries(setting);

/** Settings that a reload may replace. */
export interface Reloadable {
  roles: { mappings: RoleMappings };
  sso: { settings: SsoSettings | undefined };
}

/** @returns the settings of every area */
export function domainSettingsOf(
  config: Config,
  { baseUrl, roles, sso }: Reloadable & { baseUrl(): string },
): DomainOptions["settings"] {
  const identityMode = config.get("identity.mode");
  return {
    sso: () => sso.settings,
    access: accessSettingsOf(config, baseUrl),
    limits: limitsOf(config),
    governance: {
      requiresSecondAdministrator: config.get("policy.require_second_administrator"),
      formerRevisionsServed: config.get("sources.revisions_kept_visible"),
    },
    sessions: {
      baseUrl,
      store: config.get("blobs.store"),
      retentionDays: config.get("sessions.retention_days"),
      supersededDays: config.get("sessions.superseded_days"),
      urlTtlSeconds: config.get("sessions.url_ttl_seconds"),
      uploadsAtOnce: config.get("sessions.uploads_at_once"),
      totalBytesMax: config.get("sessions.total_bytes_max"),
      administratorsMayRead: config.get("sessions.administrators_may_read"),
    },
    scim: {
      baseUrl,
      linkExisting: config.get("scim.link_existing"),
      pageMax: config.get("scim.page_max"),
      scanRowsMax: config.get("scim.scan_rows_max"),
      requestsPerSecond: config.get("scim.requests_per_second"),
      requestsBurst: config.get("scim.requests_burst"),
      get groupRoleMappings() {
        return roles.mappings;
      },
    },
    identity: {
      mode: identityMode,
      get invites() {
        return identityMode === "password" || sso.settings?.provisioning === "invited";
      },
      get hasProvider() {
        return sso.settings !== undefined;
      },
      get groupRoleMappings() {
        return roles.mappings;
      },
    },
  };
}

function accessSettingsOf(config: Config, baseUrl: () => string): DomainOptions["settings"]["access"] {
  return {
    baseUrl,
    accessTokenTtlSeconds: config.get("access.access_token_ttl_seconds"),
    refreshTokenTtlSeconds: config.get("access.refresh_token_ttl_seconds"),
    browserSessionTtlSeconds: config.get("access.browser_session_ttl_seconds"),
    deviceCodeTtlSeconds: config.get("access.device_code_ttl_seconds"),
    pollIntervalSeconds: config.get("access.poll_interval_seconds"),
    signingKeyRotationDays: config.get("access.signing_key_rotation_days"),
    tokenMemoryBytes: config.get("access.token_memory_mb") * MEBIBYTE,
    identityMode: config.get("identity.mode"),
    provider: {
      providerId: config.get("identity.oidc.provider_id"),
      providerName: config.get("identity.oidc.provider_name"),
    },
    secondFactor: config.get("identity.second_factor"),
  };
}

function limitsOf(config: Config): DomainOptions["settings"]["limits"] {
  return {
    passwordGuessesPerAccountAndAddress: config.get("limits.password_guesses_per_account_and_address"),
    passwordGuessesPerAccount: config.get("limits.password_guesses_per_account"),
    passwordGuessesPerAddress: config.get("limits.password_guesses_per_address"),
    secondFactorGuesses: config.get("limits.second_factor_guesses"),
    userCodeGuessesPerUser: config.get("limits.user_code_guesses_per_user"),
    userCodeGuessesPerAddress: config.get("limits.user_code_guesses_per_address"),
    deviceCodesPerAddress: config.get("limits.device_codes_per_address"),
    pendingLoginsPerAddress: config.get("limits.pending_logins_per_address"),
    pendingLoginsPerNetwork: config.get("limits.pending_logins_per_network"),
    invitationsPerActor: config.get("limits.invitations_per_actor"),
    windowSeconds: config.get("limits.window_seconds"),
  };
}

/** Where the records of inference requests go. */
export interface RecordOptions {
  /** searches the request log; default: the file itself is read */
  requestLog?: ServiceLog | undefined;
  /** hands sums of usage to the service; default: writes them to the database */
  handOverUsage?: FlushUsage | undefined;
  /** whether this process counts sums that it cannot hand over */
  isUsageCounter?: boolean | undefined;
  /** called with the reason for a failed write of usage sums */
  onUsageFailure?: ((error: unknown) => void) | undefined;
}

/** Unwritten usage stays in memory. Commands count no usage, so they need no report. */
export const recordsOf = (
  { requestLogs: file }: Pick<DataDirectory, "requestLogs">,
  {
    config,
    requestLog: service,
    handOverUsage,
    isUsageCounter,
    onUsageFailure,
    logArchive: archive,
  }: RecordOptions & { config: Config; logArchive: LogArchive | undefined },
): DomainOptions["records"] => ({
  requestLog: { file, retentionDays: config.get("gateway.request_logs.retention_days"), service, archive },
  budgets: {
    requestsPerDay: config.get("gateway.proxy.budgets.requests_per_day"),
    tokensPerDay: config.get("gateway.proxy.budgets.tokens_per_day"),
  },
  handOverUsage,
  isUsageCounter,
  onUsageFailure,
});
