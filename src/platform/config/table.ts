// The table of settings: name, type, default, credential, one line of documentation. Help texts, `config show` and the
// TypeScript type of every value follow from it. Where values come from is config/sources.ts; how types read is config/types.ts.

import type { Secret } from "../secret.ts";
import { addressRange, anyOrigin, FORWARDED_HEADERS, listenAddress, publicOrigin } from "./addresses.ts";
import {
  amount,
  boolean,
  choice,
  email,
  formed,
  integer,
  list,
  map,
  path,
  type SettingType,
  secret,
  text,
} from "./types.ts";

export interface Setting<T> {
  readonly type: SettingType<T>;
  readonly doc: string;
  /** as a person would write it; read by the type like any other text */
  readonly default?: string;
  /** environment variable of the service manager that replaces the default; the first entry of a colon list */
  readonly defaultVariable?: string;
  /** file name below $CREDENTIALS_DIRECTORY; marks the setting as secret */
  readonly credential?: string;
}

export const ADMIN_PASSWORD_LENGTH_MIN = 12;
export const ACCESS_TOKEN_TTL_SECONDS = { min: 60, max: 3600 };
export const REFRESH_TOKEN_TTL_SECONDS = { min: 3600, max: 31_536_000 };
export const BROWSER_SESSION_TTL_SECONDS = { min: 300, max: 2_592_000 };
export const DEVICE_CODE_TTL_SECONDS = { min: 60, max: 3600 };
export const POLL_INTERVAL_SECONDS = { min: 1, max: 60 };
export const SIGNING_KEY_ROTATION_DAYS = { min: 1, max: 365 };
/** a token takes 64 bytes at most: 64 MB are for a million workstations */
export const TOKEN_MEMORY_MB = { min: 1, max: 4096 };
export const SCIM_PAGE = { min: 100, max: 1000 };
export const SCIM_SCAN_ROWS = { min: 1000, max: 10_000_000 };
export const SCIM_REQUESTS = { min: 1, max: 100_000 };
/** a year by default: longer than any leave, and as long as yearly reviews look back; who comes back is listed anew */
export const CLIENT_RETENTION_DAYS = { min: 1, max: 3650 };
export const INVITATION_RETENTION_DAYS = { min: 1, max: 3650 };
/** a month at least, so that a weekly export misses nothing; a hundred years at most */
export const AUDIT_RETENTION_DAYS = { min: 30, max: 36_500 };
/** attempts that one window may allow */
export const ATTEMPTS = { min: 1, max: 100_000 };
export const WINDOW_SECONDS = { min: 1, max: 86_400 };
/** an inference token cannot be taken back where it is cached, so it lives half a day at most */
export const INFERENCE_TOKEN_TTL_SECONDS = { min: 60, max: 43_200 };
export const RECONCILE_TTL_SECONDS = { min: 1, max: 2_592_000 };
export const PROVISIONER_TIMEOUT_SECONDS = { min: 1, max: 60 };
export const PROVISIONER_CONCURRENCY = { min: 1, max: 64 };
/** it opens every user's gateway key */
export const PROXY_TOKEN_LENGTH_MIN = 32;
/** a month at most: what is older helps nobody; 0 makes none */
export const BACKUP_EVERY_HOURS = { min: 0, max: 744 };
export const BACKUPS_KEPT = { min: 1, max: 1000 };
export const REPLACED_KEPT_DAYS = { min: 1, max: 3650 };
export const KEY_BUDGET = { max: 1_000_000_000 };
export const KEY_RATE = { min: 1, max: 1_000_000_000 };

const digest = formed(/^[0-9a-f]{64}$/, {
  placeholder: "sha256",
  form: "64 lower-case hexadecimal digits",
});
const duration = formed(/^[1-9]\d{0,5}(?:s|m|h|d|mo)$/, {
  placeholder: "duration",
  form: "a number and a unit (s, m, h, d, mo), such as 30d",
});
const variable = formed(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, {
  placeholder: "name",
  form: "the name of an environment variable",
});

const always = <T>(type: SettingType<T>, fallback: string, doc: string): Setting<T> => ({
  type,
  default: fallback,
  doc,
});

const optional = <T>(type: SettingType<T>, doc: string): Setting<T | undefined> => ({ type, doc });

const sealed = (credential: string, doc: string, lengthMin?: number): Setting<Secret | undefined> => ({
  type: secret(lengthMin),
  credential,
  doc,
});

/** Every setting. What stands before a dot is a section of the file, or one inside it. */
export const SETTINGS = {
  data_dir: {
    ...always(path, "./data", "folder that holds everything the service keeps"),
    defaultVariable: "STATE_DIRECTORY",
  },
  "server.listen": always(
    listenAddress,
    "127.0.0.1:8080",
    "where to listen: host:port, [ipv6]:port or unix:/path",
  ),
  "server.public_url": optional(publicOrigin, "origin under which clients and browsers reach the service"),
  "server.tls_cert": optional(path, "certificate chain in PEM, for own TLS"),
  "server.tls_key": optional(path, "private key in PEM, for own TLS"),
  "server.trusted_proxies": always(
    list(addressRange),
    "",
    "addresses or ranges of proxies whose forwarding header is believed",
  ),
  "server.forwarded_header": always(
    choice(...FORWARDED_HEADERS),
    "x-forwarded-for",
    "the only header in which trusted proxies name the caller's address",
  ),
  "log.level": always(
    choice("debug", "info", "warning", "error"),
    "info",
    "least severe level that is logged",
  ),
  "log.format": always(
    choice("auto", "json", "text"),
    "auto",
    "log lines as JSON or text; auto is JSON for the journal and text otherwise",
  ),
  "metrics.token": sealed("metrics-token", "bearer token that may read the metrics"),
  "keys.sealing_key": sealed("sealing-key", "key that seals secrets in the database"),
  "bootstrap.admin_email": always(
    email,
    "admin@example.com",
    "first administrator, made when there is no user yet",
  ),
  "bootstrap.admin_password": sealed(
    "admin-password",
    `password of the first administrator, at least ${ADMIN_PASSWORD_LENGTH_MIN} characters`,
    ADMIN_PASSWORD_LENGTH_MIN,
  ),
  "bootstrap.organization_name": always(text, "Development", "name of the first organization"),
  "backup.every_hours": always(
    integer(BACKUP_EVERY_HOURS),
    "24",
    "hours from one scheduled backup to the next; 0 makes none",
  ),
  "backup.keep": always(
    integer(BACKUPS_KEPT),
    "7",
    "scheduled backups that are kept; older ones are removed",
  ),
  "backup.keep_replaced": always(
    integer(REPLACED_KEPT_DAYS),
    "30",
    "days for which the data that a restore has replaced is kept",
  ),
  "backup.directory": optional(
    path,
    "folder of backups, which must exist; backups/ in the data directory without it",
  ),
  "database.replicated": always(
    boolean,
    "no",
    "whether other software, such as Litestream, replicates the database file and checkpoints its log",
  ),
  "catalog.file": optional(path, "catalog of packages read at start"),
  "harnesses.file": optional(path, "signed file that extends the certified versions of coding agents"),
  "harnesses.trust": optional(path, "public keys in PEM whose signatures of the harness file are believed"),
  "package_sources.public": always(
    boolean,
    "no",
    "whether administrators may have archives fetched from any public https host",
  ),
  "clients.retention_days": always(
    integer(CLIENT_RETENTION_DAYS),
    "365",
    "days after its last report at which a workstation leaves the inventory",
  ),
  "invitations.retention_days": always(
    integer(INVITATION_RETENTION_DAYS),
    "365",
    "days after its link expired at which an invitation is removed: accepted, canceled or unused",
  ),
  "audit.retention_days": optional(
    integer(AUDIT_RETENTION_DAYS),
    "days for which entries of the audit log are kept; all are kept without it",
  ),
  "scim.token": sealed("scim-token", "bearer token of the identity provider that pushes users"),
  "scim.group_role_mappings": always(
    map(choice("admin", "member")),
    "{}",
    "role that members of a provisioned group receive, by group name",
  ),
  "scim.link_existing": always(
    choice("by_address", "never"),
    "by_address",
    "whether a provisioned user takes over the local account of the same address",
  ),
  "scim.page_max": always(integer(SCIM_PAGE), "200", "users or groups on one page of a SCIM list at most"),
  "scim.scan_rows_max": always(
    integer(SCIM_SCAN_ROWS),
    "200000",
    "rows that a SCIM filter without an index may look at",
  ),
  "scim.requests_per_second": always(
    integer(SCIM_REQUESTS),
    "100",
    "SCIM requests a second that one token may go on sending",
  ),
  "scim.requests_burst": always(
    integer(SCIM_REQUESTS),
    "500",
    "SCIM requests that one token may send at once after a rest",
  ),
  "identity.mode": always(choice("password", "oidc"), "password", "how people sign in"),
  "access.access_token_ttl_seconds": always(
    integer(ACCESS_TOKEN_TTL_SECONDS),
    "900",
    "life of an access token",
  ),
  "access.refresh_token_ttl_seconds": always(
    integer(REFRESH_TOKEN_TTL_SECONDS),
    "2592000",
    "life of a refresh token",
  ),
  "access.browser_session_ttl_seconds": always(
    integer(BROWSER_SESSION_TTL_SECONDS),
    "43200",
    "life of a login session in a browser",
  ),
  "access.device_code_ttl_seconds": always(
    integer(DEVICE_CODE_TTL_SECONDS),
    "600",
    "time to approve a device login",
  ),
  "access.poll_interval_seconds": always(
    integer(POLL_INTERVAL_SECONDS),
    "5",
    "least time between two polls of a device login",
  ),
  "access.signing_key_rotation_days": always(
    integer(SIGNING_KEY_ROTATION_DAYS),
    "30",
    "age at which the signing key is replaced",
  ),
  "access.token_memory_mb": always(
    integer(TOKEN_MEMORY_MB),
    "64",
    "memory for verified access tokens in MB, 64 bytes each; their workstations take 1.5 times as much beside it",
  ),
  "limits.password_guesses_per_account_and_address": always(
    integer(ATTEMPTS),
    "10",
    "wrong passwords for one account from one address, or from one browser that has signed in before, in a window",
  ),
  "limits.password_guesses_per_account": always(
    integer(ATTEMPTS),
    "200",
    "wrong passwords for one account in a window, without browsers that have signed in before",
  ),
  "limits.password_guesses_per_address": always(
    integer(ATTEMPTS),
    "50",
    "wrong passwords from one address in a window",
  ),
  "limits.user_code_guesses_per_user": always(
    integer(ATTEMPTS),
    "5",
    "wrong user codes by one user in a window",
  ),
  "limits.user_code_guesses_per_address": always(
    integer(ATTEMPTS),
    "20",
    "wrong user codes from one address in a window",
  ),
  "limits.device_codes_per_address": always(
    integer(ATTEMPTS),
    "600",
    "device logins begun from one address in a window",
  ),
  "limits.pending_logins_per_address": always(
    integer(ATTEMPTS),
    "200",
    "device logins of one address that wait for a decision at once",
  ),
  "limits.pending_logins_per_network": always(
    integer(ATTEMPTS),
    "1000",
    "device logins of one network (/24, of IPv6 /48) that wait for a decision at once",
  ),
  "limits.invitations_per_actor": always(
    integer(ATTEMPTS),
    "100",
    "invitations sent by one actor in a window",
  ),
  "limits.window_seconds": always(
    integer(WINDOW_SECONDS),
    "900",
    "length of the window these limits count in",
  ),
  "gateway.type": optional(choice("litellm"), "kind of inference gateway; gateway mode is off without it"),
  "gateway.url": optional(publicOrigin, "origin of the inference gateway"),
  "gateway.inference_proxy_url": optional(publicOrigin, "origin of the inference proxy, for workstations"),
  "gateway.inference_proxy_health_url": optional(
    anyOrigin,
    "origin at which this service asks the inference proxy for its health; else that for workstations",
  ),
  "gateway.proxy_token": sealed(
    "gateway-proxy-token",
    `token with which the inference proxy asks for keys, at least ${PROXY_TOKEN_LENGTH_MIN} characters`,
    PROXY_TOKEN_LENGTH_MIN,
  ),
  "gateway.inference_jwt.issuer": optional(text, "issuer of inference tokens; our own origin without it"),
  "gateway.inference_jwt.audience": optional(text, "audience of inference tokens; the usual one without it"),
  "gateway.inference_jwt.token_ttl_seconds": always(
    integer(INFERENCE_TOKEN_TTL_SECONDS),
    "43200",
    "life of an inference token, within that of its login session",
  ),
  "gateway.inference_jwt.rotation_days": always(
    integer(SIGNING_KEY_ROTATION_DAYS),
    "30",
    "age at which the key that signs inference tokens is replaced",
  ),
  "gateway.provisioner.type": optional(
    text,
    "what makes gateway keys: builtin-litellm, or an executable's name",
  ),
  "gateway.provisioner.reconcile_ttl_seconds": always(
    integer(RECONCILE_TTL_SECONDS),
    "86400",
    "time after which a gateway key is looked after again",
  ),
  "gateway.provisioner.timeout_seconds": always(
    integer(PROVISIONER_TIMEOUT_SECONDS),
    "15",
    "time for one call of the provisioner",
  ),
  "gateway.provisioner.max_concurrency": always(
    integer(PROVISIONER_CONCURRENCY),
    "8",
    "calls of the provisioner at the same moment",
  ),
  "gateway.provisioner.executable_path": optional(path, "executable that makes gateway keys"),
  "gateway.provisioner.executable_sha256": optional(digest, "digest of the executable"),
  "gateway.provisioner.executable_environment": always(
    list(variable),
    "",
    "variables of our own environment that the executable finds in its",
  ),
  "gateway.provisioner.policy_revision": optional(
    text,
    "a new value has every gateway key looked after again",
  ),
  "gateway.provisioner.admin_key": sealed("gateway-admin-key", "admin key of the inference gateway"),
  "gateway.provisioner.policy.models": always(
    list(text),
    "",
    "models that a gateway key may use; all that the gateway allows without any",
  ),
  "gateway.provisioner.policy.max_budget": optional(amount(KEY_BUDGET), "money that a gateway key may spend"),
  "gateway.provisioner.policy.budget_duration": optional(
    duration,
    "time after which its budget is full again",
  ),
  "gateway.provisioner.policy.rpm_limit": optional(integer(KEY_RATE), "requests a minute of a gateway key"),
  "gateway.provisioner.policy.tpm_limit": optional(integer(KEY_RATE), "tokens a minute of a gateway key"),
  "gateway.provisioner.policy.max_parallel_requests": optional(
    integer(KEY_RATE),
    "requests of a gateway key at the same moment",
  ),
  "gateway.provisioner.policy.duration": optional(duration, "life of a gateway key"),
  "gateway.provisioner.policy.team_scoped": always(
    boolean,
    "no",
    "whether a gateway key is made in the one team of its user",
  ),
} satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;

/** The value of each setting, by name; undefined only where the table has no default. */
export type Values = {
  readonly [Name in SettingName]: (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never;
};

/** Top-level keys of the file that are handed on as they are. */
export const SECTIONS = ["governance", "package_catalog"] as const;
export type SectionName = (typeof SECTIONS)[number];

const isSettingName = (name: string): name is SettingName => Object.hasOwn(SETTINGS, name);

export const SETTING_NAMES: readonly SettingName[] = Object.keys(SETTINGS).filter(isSettingName);

/** @returns the setting, whatever its type */
export const settingOf = (name: SettingName): Setting<unknown> => SETTINGS[name];

/** @returns every key that may stand in the file and, but for secrets, in flags: a secret is also there as `<name>_file` */
export const keysOf = (name: SettingName): readonly string[] =>
  settingOf(name).credential === undefined ? [name] : [name, fileKeyOf(name)];

/** @returns the key of the file that holds the secret: `scim.token` gives `scim.token_file` */
export const fileKeyOf = (name: SettingName): string => `${name}_file`;

/** @returns the environment variable: `server.listen` gives `QUARTERMASTER_SERVER_LISTEN` */
export const variableOf = (key: string): string => `QUARTERMASTER_${key.replaceAll(".", "_").toUpperCase()}`;

/** @returns the flag: `server.public_url` gives `--server-public-url` */
export const flagOf = (key: string): string => `--${key.replaceAll(/[._]/g, "-")}`;

/** @returns the member under which commander hands over the flag: `server.public_url` gives `serverPublicUrl` */
export const attributeOf = (key: string): string =>
  key.replaceAll(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** What commander needs for one option. Give it no default of its own, or every value would look as if a flag had set it. */
export interface SettingOption {
  /** flag and placeholder: `--server-listen <address>` */
  readonly flags: string;
  readonly doc: string;
  /** empty where there is no default */
  readonly defaultText: string;
}

/** The option that names the configuration file; its variable is QUARTERMASTER_CONFIG. */
export const CONFIG_OPTION: SettingOption = {
  flags: "--config <path>",
  doc: "configuration file",
  defaultText: "",
};

/** @returns one option for each of the settings, in the order of the table; a secret has only its `-file` twin */
export const settingOptions = (wanted: readonly SettingName[] = SETTING_NAMES): readonly SettingOption[] =>
  SETTING_NAMES.filter((name) => wanted.includes(name)).map((name) => {
    const setting = settingOf(name);
    const isSecret = setting.credential !== undefined;
    const key = isSecret ? fileKeyOf(name) : name;
    return {
      flags: `${flagOf(key)} <${setting.type.placeholder}>`,
      doc: isSecret ? `file that holds the ${setting.doc}` : setting.doc,
      defaultText: setting.default ?? "",
    };
  });
