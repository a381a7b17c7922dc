// The table of settings: name, type, default, credential and one line of documentation. Help texts, `config show` and the
// TypeScript type of every value derive from it. config/sources.ts resolves the values; config/types.ts parses them.

import type { Secret } from "../secret.ts";
import {
  addressRange,
  anyUrl,
  FORWARDED_HEADERS,
  issuerUrl,
  listenAddress,
  publicOrigin,
  publicUrl,
} from "./addresses.ts";
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
  /** as an operator would write it; the type parses it like any other text */
  readonly default?: string;
  /** environment variable of the service manager that replaces the default; a colon-separated list counts by its first entry */
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
/** a token takes at most 64 bytes, so 64 MB are enough for a million workstations */
export const TOKEN_MEMORY_MB = { min: 1, max: 4096 };
export const SCIM_PAGE = { min: 100, max: 1000 };
export const SCIM_SCAN_ROWS = { min: 1000, max: 10_000_000 };
export const SCIM_REQUESTS = { min: 1, max: 100_000 };
/** The default is a year: longer than any leave, and the period of yearly reviews. A workstation that returns is listed again. */
export const CLIENT_RETENTION_DAYS = { min: 1, max: 3650 };
export const INVITATION_RETENTION_DAYS = { min: 1, max: 3650 };
/** at least a month, so that a weekly export misses nothing; at most a hundred years */
export const AUDIT_RETENTION_DAYS = { min: 30, max: 36_500 };
/** attempts in one window */
export const ATTEMPTS = { min: 1, max: 100_000 };
export const WINDOW_SECONDS = { min: 1, max: 86_400 };
/** a cached inference token cannot be revoked, so it lives at most half a day */
export const INFERENCE_TOKEN_TTL_SECONDS = { min: 60, max: 43_200 };
export const RECONCILE_TTL_SECONDS = { min: 1, max: 2_592_000 };
export const MODEL_CATALOG_REFRESH_SECONDS = { min: 30, max: 86_400 };
export const PROVISIONER_TIMEOUT_SECONDS = { min: 1, max: 60 };
export const PROVISIONER_CONCURRENCY = { min: 1, max: 64 };
/** the proxy token gives access to every user's gateway key */
export const PROXY_TOKEN_LENGTH_MIN = 32;
/** at most a month, because an older backup is of little use; 0 turns scheduled backups off */
export const BACKUP_EVERY_HOURS = { min: 0, max: 744 };
export const BACKUPS_KEPT = { min: 1, max: 1000 };
export const REPLACED_KEPT_DAYS = { min: 1, max: 3650 };
export const KEY_BUDGET = { max: 1_000_000_000 };
/** difference of clocks that is tolerated; a larger one is a fault that the operator should hear of */
export const CLOCK_SKEW_SECONDS = { min: 0, max: 300 };
export const MAX_AGE_SECONDS = { min: 0, max: 31_536_000 };
/** at most a year; 0 turns confirmation off */
export const RECONFIRM_HOURS = { min: 0, max: 8784 };
/** OpenID Connect Core section 9 */
export const CLIENT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "private_key_jwt"] as const;
export const KEY_RATE = { min: 1, max: 1_000_000_000 };
export const PROXY_MODES = ["in-process", "external", "off"] as const;
/** each request in progress takes two connections and some 65 KB */
export const IN_FLIGHT = { min: 1, max: 20_000 };
export const BODY_BYTES = { min: 1024, max: 268_435_456 };
/** 0: no body is read before it is sent */
export const BUFFER_BYTES = { min: 0, max: 16_777_216 };
export const BUFFER_TOTAL_BYTES = { min: 0, max: 4_294_967_296 };
export const REQUEST_RATE = { min: 1, max: 100_000 };
export const CONNECT_TIMEOUT_SECONDS = { min: 1, max: 60 };
/** models may think for long before they answer */
export const ANSWER_SECONDS = { min: 1, max: 3600 };
export const STREAM_SECONDS = { min: 1, max: 86_400 };
/** shorter than the time after which the service manager kills the service */
export const DRAIN_SECONDS = { min: 0, max: 40 };
/** 0: no limit */
export const DAILY_BUDGET = { min: 0, max: 1_000_000_000_000 };
export const PARALLEL_REQUESTS = { min: 0, max: 20_000 };
export const REQUEST_LOG_DAYS = { min: 1, max: 400 };
/** a row takes about a kilobyte in the queue */
export const QUEUE_ROWS = { min: 100, max: 1_000_000 };
/** facts about a caller that the upstream may get in headers */
export const IDENTITY_FACTS = [
  "user_id",
  "organization_id",
  "gateway_session_id",
  "login_session_id",
  "profile_id",
  "profile_name",
] as const;

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

const providerId = formed(/^[a-z0-9-]{1,32}$/, {
  placeholder: "id",
  form: "1 to 32 lower-case letters, digits and dashes",
});
const claimPath = formed(/^[!-~]{1,200}$/, {
  placeholder: "claim",
  form: "the name of a claim; dots lead into nested claims, such as realm_access.roles",
});
const mailDomain = formed(/^[^\s@*,.\p{Cc}]+(?:\.[^\s@*,.\p{Cc}]+)+$/u, {
  placeholder: "domain",
  form: "a domain such as example.com, without @ and *",
});
const forwardedPath = formed(
  /^(?:GET|POST|PUT|PATCH|DELETE) (?=.{2,200}$)(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/,
  {
    placeholder: "method path",
    form: "GET, POST, PUT, PATCH or DELETE and a path of letters, digits, and . _ ~ -, such as POST /v1/rankings",
  },
);
const headerName = formed(/^[a-z0-9-]{1,64}$/, {
  placeholder: "header",
  form: "the name of a header in lower-case letters, digits and dashes",
});
const scopeName = formed(/^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/, {
  placeholder: "scope",
  form: "the name of a scope (RFC 6749 section 3.3)",
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

/** Every setting. The parts before the last dot are nested sections of the file. */
export const SETTINGS = {
  data_dir: {
    ...always(path, "./data", "folder for all data of the service"),
    defaultVariable: "STATE_DIRECTORY",
  },
  "server.listen": always(
    listenAddress,
    "127.0.0.1:8080",
    "where to listen: host:port, [ipv6]:port or unix:/path",
  ),
  "server.public_url": optional(publicOrigin, "origin at which workstations and browsers reach the service"),
  "server.tls_cert": optional(path, "PEM file with the certificate chain, to serve TLS directly"),
  "server.tls_key": optional(path, "PEM file with the private key, to serve TLS directly"),
  "server.trusted_proxies": always(
    list(addressRange),
    "",
    "addresses or ranges of proxies whose forwarding header is trusted",
  ),
  "server.forwarded_header": always(
    choice(...FORWARDED_HEADERS),
    "x-forwarded-for",
    "header in which trusted proxies pass the client's address; all others are ignored",
  ),
  "log.level": always(choice("debug", "info", "warning", "error"), "info", "lowest level that is logged"),
  "log.format": always(
    choice("auto", "json", "text"),
    "auto",
    "format of log lines; auto means JSON for the journal, text otherwise",
  ),
  "metrics.token": sealed("metrics-token", "bearer token for reading the metrics"),
  "keys.sealing_key": sealed("sealing-key", "key that encrypts secrets in the database"),
  "bootstrap.admin_email": always(
    email,
    "admin@example.com",
    "first administrator, created if there are no users yet",
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
    "hours between scheduled backups; 0 turns them off",
  ),
  "backup.keep": always(
    integer(BACKUPS_KEPT),
    "7",
    "number of scheduled backups to keep; older ones are removed",
  ),
  "backup.keep_replaced": always(
    integer(REPLACED_KEPT_DAYS),
    "30",
    "days to keep the data that a restore has replaced",
  ),
  "backup.directory": optional(
    path,
    "existing folder for backups; by default backups/ in the data directory",
  ),
  "database.replicated": always(
    boolean,
    "no",
    "whether other software, such as Litestream, replicates the database file and checkpoints its log",
  ),
  "catalog.file": optional(path, "package catalog to read at start"),
  "harnesses.file": optional(path, "signed file that extends the certified versions of coding agents"),
  "harnesses.trust": optional(
    path,
    "PEM file with the public keys that are trusted to sign the harness file",
  ),
  "package_sources.public": always(
    boolean,
    "no",
    "whether administrators may fetch archives from any public https host",
  ),
  "clients.retention_days": always(
    integer(CLIENT_RETENTION_DAYS),
    "365",
    "days after its last report until a workstation is removed from the inventory",
  ),
  "invitations.retention_days": always(
    integer(INVITATION_RETENTION_DAYS),
    "365",
    "days after its link expired until an invitation is removed, whether accepted, canceled or unused",
  ),
  "audit.retention_days": optional(
    integer(AUDIT_RETENTION_DAYS),
    "days to keep entries of the audit log; by default all are kept",
  ),
  "scim.token": sealed("scim-token", "bearer token of the identity provider that provisions users"),
  "scim.group_role_mappings": always(
    map(choice("admin", "member")),
    "{}",
    "role of the members of each provisioned group, by the name of the group",
  ),
  "scim.link_existing": always(
    choice("by_address", "never"),
    "by_address",
    "whether a provisioned user is linked to the local account with the same e-mail address",
  ),
  "scim.page_max": always(
    integer(SCIM_PAGE),
    "200",
    "maximum number of users or groups on one page of a SCIM list",
  ),
  "scim.scan_rows_max": always(
    integer(SCIM_SCAN_ROWS),
    "200000",
    "maximum number of rows that a SCIM filter without an index may scan",
  ),
  "scim.requests_per_second": always(
    integer(SCIM_REQUESTS),
    "100",
    "sustained SCIM requests per second for one token",
  ),
  "scim.requests_burst": always(
    integer(SCIM_REQUESTS),
    "500",
    "SCIM requests that one token may send in a burst after a pause",
  ),
  "identity.mode": always(choice("password", "oidc"), "password", "how people sign in"),
  "identity.oidc.issuer": optional(
    issuerUrl,
    "issuer of the identity provider, exactly as in its discovery document; if unset, people sign in with passwords only",
  ),
  "identity.oidc.client_id": optional(text, "client id that the identity provider gave to this service"),
  "identity.oidc.client_secret": sealed("oidc-client-secret", "client secret from the identity provider"),
  "identity.oidc.client_key": sealed(
    "oidc-client-key",
    "PEM private key (PKCS #8) with which this service identifies itself to the provider",
  ),
  "identity.oidc.client_auth": always(
    { ...choice(...CLIENT_AUTH_METHODS), placeholder: "method", choices: CLIENT_AUTH_METHODS },
    "client_secret_basic",
    "how this service identifies itself to the identity provider",
  ),
  "identity.oidc.provider_id": always(
    providerId,
    "oidc",
    "last part of the redirect URI that is registered at the identity provider",
  ),
  "identity.oidc.provider_name": always(
    text,
    "company sign-in",
    "name of the identity provider on the sign-in page",
  ),
  "identity.oidc.extra_scopes": always(
    list(scopeName),
    "",
    "scopes to request in addition to openid, profile and email",
  ),
  "identity.oidc.provisioning": optional(
    choice("scim", "invited", "jit"),
    "who may sign in: users created by SCIM (scim), existing users and invited people (invited), or everybody whom the rules admit (jit); by default scim in mode oidc, otherwise invited",
  ),
  "identity.oidc.trust_email": always(
    boolean,
    "no",
    "whether an address without email_verified counts as verified; only for a provider of a single tenant",
  ),
  "identity.oidc.external_id_claim": optional(
    claimPath,
    "claim that equals the SCIM externalId of a user, such as oid for Entra ID",
  ),
  "identity.oidc.groups_claim": always(claimPath, "groups", "claim that lists the groups of a person"),
  "identity.oidc.group_role_mappings": always(
    map(choice("admin", "member")),
    "{}",
    "role of the members of each group at the identity provider, for users that SCIM does not manage",
  ),
  "identity.oidc.allowed_groups": always(
    list(text),
    "",
    "groups of which a person must be in at least one; if empty, no group is needed",
  ),
  "identity.oidc.allowed_domains": always(
    list(mailDomain),
    "",
    "domains that a verified address may have; if empty, any",
  ),
  "identity.oidc.required_claims": always(
    map(text),
    "{}",
    "claims that must have an exact value, such as the tenant",
  ),
  "identity.oidc.max_age_seconds": optional(
    integer(MAX_AGE_SECONDS),
    "maximum age of a sign-in at the identity provider before it asks again",
  ),
  "identity.oidc.require_acr": always(
    list(text),
    "",
    "accepted authentication context classes (acr) of a sign-in; if empty, any",
  ),
  "identity.oidc.clock_skew_seconds": always(
    integer(CLOCK_SKEW_SECONDS),
    "60",
    "tolerated difference between our clock and the clock of the identity provider",
  ),
  "identity.oidc.reconfirm_hours": optional(
    integer(RECONFIRM_HOURS),
    "hours after which people must sign in at the identity provider again; 0 turns this off; by default 168, or 0 if SCIM removes users who left",
  ),
  "identity.oidc.auto_redirect": always(
    boolean,
    "no",
    "whether the sign-in page redirects to the identity provider without a click",
  ),
  "identity.oidc.logout": always(
    choice("local", "idp"),
    "local",
    "whether signing out also ends the session at the identity provider",
  ),
  "identity.oidc.logout_ends_grants": always(
    boolean,
    "no",
    "whether a logout that the identity provider announces also signs out workstations",
  ),
  "identity.oidc.ca_file": optional(
    path,
    "PEM file with certificates to trust for the identity provider, in addition to the built-in ones",
  ),
  "identity.second_factor": always(
    choice("off", "optional", "administrators", "everyone"),
    "optional",
    "who must have a second factor in addition to a password; with optional, users may set one up",
  ),
  "access.access_token_ttl_seconds": always(
    integer(ACCESS_TOKEN_TTL_SECONDS),
    "900",
    "lifetime of an access token",
  ),
  "access.refresh_token_ttl_seconds": always(
    integer(REFRESH_TOKEN_TTL_SECONDS),
    "2592000",
    "lifetime of a refresh token",
  ),
  "access.browser_session_ttl_seconds": always(
    integer(BROWSER_SESSION_TTL_SECONDS),
    "43200",
    "lifetime of a login session in a browser",
  ),
  "access.device_code_ttl_seconds": always(
    integer(DEVICE_CODE_TTL_SECONDS),
    "600",
    "time to approve a device login",
  ),
  "access.poll_interval_seconds": always(
    integer(POLL_INTERVAL_SECONDS),
    "5",
    "minimum time between two polls of a device login",
  ),
  "access.signing_key_rotation_days": always(
    integer(SIGNING_KEY_ROTATION_DAYS),
    "30",
    "age at which the signing key is replaced",
  ),
  "access.token_memory_mb": always(
    integer(TOKEN_MEMORY_MB),
    "64",
    "memory for verified access tokens in MB, 64 bytes for each token; data of their workstations takes another 1.5 times as much",
  ),
  "limits.password_guesses_per_account_and_address": always(
    integer(ATTEMPTS),
    "10",
    "wrong passwords in a window for one account from one address, or from one browser that has signed in before",
  ),
  "limits.password_guesses_per_account": always(
    integer(ATTEMPTS),
    "200",
    "wrong passwords in a window for one account, not counting browsers that have signed in before",
  ),
  "limits.password_guesses_per_address": always(
    integer(ATTEMPTS),
    "50",
    "wrong passwords from one address in a window",
  ),
  "limits.second_factor_guesses": always(
    integer(ATTEMPTS),
    "5",
    "wrong codes of a second factor in a window for one account, or in one browser that has signed in before",
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
    "device logins started from one address in a window",
  ),
  "limits.pending_logins_per_address": always(
    integer(ATTEMPTS),
    "200",
    "device logins from one address that may wait for a decision at the same time",
  ),
  "limits.pending_logins_per_network": always(
    integer(ATTEMPTS),
    "1000",
    "device logins from one network (IPv4 /24, IPv6 /48) that may wait for a decision at the same time",
  ),
  "limits.invitations_per_actor": always(
    integer(ATTEMPTS),
    "100",
    "invitations sent by one actor in a window; counted separately, password links made by one actor",
  ),
  "limits.window_seconds": always(integer(WINDOW_SECONDS), "900", "length of the window for these limits"),
  "gateway.type": optional(choice("litellm"), "type of the inference gateway; if unset, gateway mode is off"),
  "gateway.url": optional(publicUrl, "URL of the inference gateway"),
  "gateway.inference_proxy_url": optional(
    publicUrl,
    "URL at which workstations reach the inference proxy; by default /inference below server.public_url",
  ),
  "gateway.inference_proxy_health_url": optional(
    anyUrl,
    "URL for health checks of the inference proxy; by default the one of workstations",
  ),
  "gateway.proxy_token": sealed(
    "gateway-proxy-token",
    `token with which the inference proxy requests keys, at least ${PROXY_TOKEN_LENGTH_MIN} characters`,
    PROXY_TOKEN_LENGTH_MIN,
  ),
  "gateway.proxy.mode": optional(
    choice(...PROXY_MODES),
    "who forwards inference requests: this service, a separate proxy, or nobody; by default external if gateway.proxy_token is set, otherwise in-process",
  ),
  "gateway.proxy.listen": optional(
    listenAddress,
    "a listener of its own for inference: host:port, [ipv6]:port or unix:/path; by default inference is a path of server.listen",
  ),
  "gateway.proxy.max_in_flight": always(
    integer(IN_FLIGHT),
    "2000",
    "inference requests in progress at the same time",
  ),
  "gateway.proxy.max_body_bytes": always(
    integer(BODY_BYTES),
    "33554432",
    "size limit of the body of an inference request",
  ),
  "gateway.proxy.buffer_bytes": always(
    integer(BUFFER_BYTES),
    "1048576",
    "bodies up to this size are read whole before they are sent on; larger ones are streamed",
  ),
  "gateway.proxy.buffer_total_bytes": always(
    integer(BUFFER_TOTAL_BYTES),
    "67108864",
    "memory for bodies that are read whole, all together",
  ),
  "gateway.proxy.token_rps": always(
    integer(REQUEST_RATE),
    "50",
    "sustained inference requests per second for one token, and for one workstation",
  ),
  "gateway.proxy.token_burst": always(
    integer(REQUEST_RATE),
    "100",
    "inference requests that one token, and one workstation, may send in a burst after a pause",
  ),
  "gateway.proxy.failures_per_address": always(
    integer(REQUEST_RATE),
    "20",
    "refused inference tokens per second from one address",
  ),
  "gateway.proxy.connect_timeout_seconds": always(
    integer(CONNECT_TIMEOUT_SECONDS),
    "2",
    "time to connect to the inference gateway",
  ),
  "gateway.proxy.headers_timeout_seconds": always(
    integer(ANSWER_SECONDS),
    "600",
    "time until the inference gateway begins to answer",
  ),
  "gateway.proxy.idle_timeout_seconds": always(
    integer(ANSWER_SECONDS),
    "300",
    "maximum pause within an answer of the inference gateway",
  ),
  "gateway.proxy.stream_seconds_max": always(
    integer(STREAM_SECONDS),
    "3600",
    "maximum duration of an inference request",
  ),
  "gateway.proxy.drain_seconds": always(
    integer(DRAIN_SECONDS),
    "20",
    "time for inference requests to finish when the service stops",
  ),
  "gateway.proxy.cut_streams": always(
    boolean,
    "yes",
    "whether running answers end when the workstation or its user loses access",
  ),
  "gateway.proxy.credential_header": always(
    choice("authorization", "x-api-key"),
    "authorization",
    "header in which the inference gateway gets the key of the user",
  ),
  "gateway.proxy.identity_headers": always(
    map(headerName),
    "{}",
    `from a fact about the caller (${IDENTITY_FACTS.join(", ")}) to the header that tells it to the inference gateway`,
  ),
  "gateway.proxy.extra_paths": always(
    list(forwardedPath),
    "",
    "further paths that are forwarded, with their methods",
  ),
  "gateway.proxy.model_policy": always(
    choice("off", "log", "refuse"),
    "off",
    "what happens to a request for a model that is assigned to no allowed agent",
  ),
  "gateway.proxy.budgets.requests_per_day": always(
    integer(DAILY_BUDGET),
    "0",
    "inference requests of one user in a day (UTC), after which further ones are refused; 0 means no limit",
  ),
  "gateway.proxy.budgets.tokens_per_day": always(
    integer(DAILY_BUDGET),
    "0",
    "input and output tokens of one user in a day (UTC), after which further requests are refused; 0 means no limit",
  ),
  "gateway.proxy.budgets.parallel_requests": always(
    integer(PARALLEL_REQUESTS),
    "50",
    "inference requests of one user in progress at the same time; 0 means no limit",
  ),
  "gateway.request_logs.enabled": always(
    boolean,
    "yes",
    "whether one row is kept for each inference request; usage is counted in any case",
  ),
  "gateway.request_logs.retention_days": always(
    integer(REQUEST_LOG_DAYS),
    "30",
    "days after which a row of the request log is removed",
  ),
  "gateway.request_logs.queue_rows": always(
    integer(QUEUE_ROWS),
    "10000",
    "rows of the request log that may wait to be written; further ones are dropped and counted",
  ),
  "gateway.inference_jwt.issuer": optional(
    text,
    "issuer of inference tokens; by default the origin of this service",
  ),
  "gateway.inference_jwt.audience": optional(
    text,
    "audience of inference tokens; by default the standard one",
  ),
  "gateway.inference_jwt.token_ttl_seconds": always(
    integer(INFERENCE_TOKEN_TTL_SECONDS),
    "43200",
    "lifetime of an inference token; it never outlives its login session",
  ),
  "gateway.inference_jwt.rotation_days": always(
    integer(SIGNING_KEY_ROTATION_DAYS),
    "30",
    "age at which the key that signs inference tokens is replaced",
  ),
  "gateway.provisioner.type": optional(
    text,
    "provisioner that creates gateway keys: builtin-litellm, or the name of an executable",
  ),
  "gateway.provisioner.reconcile_ttl_seconds": always(
    integer(RECONCILE_TTL_SECONDS),
    "86400",
    "time after which a gateway key is reconciled again",
  ),
  "gateway.provisioner.timeout_seconds": always(
    integer(PROVISIONER_TIMEOUT_SECONDS),
    "15",
    "time limit of one provisioner call",
  ),
  "gateway.provisioner.max_concurrency": always(
    integer(PROVISIONER_CONCURRENCY),
    "8",
    "maximum number of concurrent provisioner calls",
  ),
  "gateway.provisioner.model_catalog_refresh_seconds": always(
    integer(MODEL_CATALOG_REFRESH_SECONDS),
    "300",
    "time between two refreshes of the models that the gateway offers",
  ),
  "gateway.provisioner.executable_path": optional(path, "executable that creates gateway keys"),
  "gateway.provisioner.executable_sha256": optional(digest, "SHA-256 digest of the executable"),
  "gateway.provisioner.executable_environment": always(
    list(variable),
    "",
    "environment variables that are passed on to the executable",
  ),
  "gateway.provisioner.policy_revision": optional(
    text,
    "revision of the policy; a new value reconciles every gateway key again",
  ),
  "gateway.provisioner.admin_key": sealed("gateway-admin-key", "admin key of the inference gateway"),
  "gateway.provisioner.policy.models": always(
    list(text),
    "",
    "models that a gateway key may use; if empty, all models that the gateway allows",
  ),
  "gateway.provisioner.policy.max_budget": optional(
    amount(KEY_BUDGET),
    "maximum amount of money that a gateway key may spend",
  ),
  "gateway.provisioner.policy.budget_duration": optional(
    duration,
    "period after which the budget of a gateway key is reset",
  ),
  "gateway.provisioner.policy.rpm_limit": optional(integer(KEY_RATE), "requests per minute of a gateway key"),
  "gateway.provisioner.policy.tpm_limit": optional(integer(KEY_RATE), "tokens per minute of a gateway key"),
  "gateway.provisioner.policy.max_parallel_requests": optional(
    integer(KEY_RATE),
    "maximum number of concurrent requests of a gateway key",
  ),
  "gateway.provisioner.policy.duration": optional(duration, "lifetime of a gateway key"),
  "gateway.provisioner.policy.team_scoped": always(
    boolean,
    "no",
    "whether a gateway key is created in its user's only team",
  ),
} satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;

/** The value of each setting, by name; undefined only if the table has no default. */
export type Values = {
  readonly [Name in SettingName]: (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never;
};

/** Top-level keys of the file that other parts of the program parse. */
export const SECTIONS = ["governance", "package_catalog"] as const;

const isSettingName = (name: string): name is SettingName => Object.hasOwn(SETTINGS, name);

export const SETTING_NAMES: readonly SettingName[] = Object.keys(SETTINGS).filter(isSettingName);

/** @returns the setting, whatever its type */
export const settingOf = (name: SettingName): Setting<unknown> => SETTINGS[name];

/** @returns the keys of a setting in the file; a secret has a second one, `<name>_file`, and only that one is a flag */
export const keysOf = (name: SettingName): readonly string[] =>
  settingOf(name).credential === undefined ? [name] : [name, fileKeyOf(name)];

/** @returns the key for the path of a secret file: `scim.token` gives `scim.token_file` */
export const fileKeyOf = (name: SettingName): string => `${name}_file`;

/** @returns the environment variable: `server.listen` gives `QUARTERMASTER_SERVER_LISTEN` */
export const variableOf = (key: string): string => `QUARTERMASTER_${key.replaceAll(".", "_").toUpperCase()}`;

/** @returns the flag: `server.public_url` gives `--server-public-url` */
export const flagOf = (key: string): string => `--${key.replaceAll(/[._]/g, "-")}`;

/** @returns commander's name for the flag: `server.public_url` gives `serverPublicUrl` */
export const attributeOf = (key: string): string =>
  key.replaceAll(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** One option for commander. Never pass commander a default, or every value would appear to come from a flag. */
export interface SettingOption {
  /** flag and placeholder: `--server-listen <address>` */
  readonly flags: string;
  readonly doc: string;
  /** empty if there is no default */
  readonly defaultText: string;
  /** the values to choose from, if the flag does not list them */
  readonly choices?: readonly string[];
}

/** The option that names the configuration file; its variable is QUARTERMASTER_CONFIG. */
export const CONFIG_OPTION: SettingOption = {
  flags: "--config <path>",
  doc: "configuration file",
  defaultText: "",
};

/** @returns one option for each of the settings, in the order of the table; a secret has only its `-file` option */
export const settingOptions = (wanted: readonly SettingName[] = SETTING_NAMES): readonly SettingOption[] =>
  SETTING_NAMES.filter((name) => wanted.includes(name)).map((name) => {
    const setting = settingOf(name);
    const isSecret = setting.credential !== undefined;
    const key = isSecret ? fileKeyOf(name) : name;
    return {
      flags: `${flagOf(key)} <${setting.type.placeholder}>`,
      doc: isSecret ? `file that holds the ${setting.doc}` : setting.doc,
      defaultText: setting.default ?? "",
      ...(setting.type.choices && { choices: setting.type.choices }),
    };
  });
