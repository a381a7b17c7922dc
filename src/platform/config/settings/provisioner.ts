// Settings of gateway keys and who creates them: `gateway.provisioner.*`.
import { amount, boolean, integer, list, path, pattern, text } from "../types.ts";
import { optional, type Settings, sealed, withDefault } from "./setting.ts";

export const RECONCILE_TTL_SECONDS = { min: 1, max: 2_592_000 };
const MODEL_CATALOG_REFRESH_SECONDS = { min: 30, max: 86_400 };
const PROVISIONER_TIMEOUT_SECONDS = { min: 1, max: 60 };
const PROVISIONER_CONCURRENCY = { min: 1, max: 64 };
export const KEY_BUDGET = { max: 1_000_000_000 };
export const KEY_RATE = { min: 1, max: 1_000_000_000 };

const digest = pattern(/^[0-9a-f]{64}$/, {
  placeholder: "sha256",
  form: "64 lower-case hexadecimal digits",
});
const variable = pattern(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, {
  placeholder: "name",
  form: "the name of an environment variable",
});
const duration = pattern(/^[1-9]\d{0,5}(?:s|m|h|d|mo)$/, {
  placeholder: "duration",
  form: "a number and a unit (s, m, h, d, mo), such as 30d",
});

export const PROVISIONER_SETTINGS = {
  "gateway.provisioner.type": optional(
    text,
    "provisioner that creates gateway keys: builtin-litellm, or the name of an executable",
  ),
  "gateway.provisioner.reconcile_ttl_seconds": withDefault(
    integer(RECONCILE_TTL_SECONDS),
    "86400",
    "time after which a gateway key is reconciled again",
  ),
  "gateway.provisioner.timeout_seconds": withDefault(
    integer(PROVISIONER_TIMEOUT_SECONDS),
    "15",
    "time limit of one provisioner call",
  ),
  "gateway.provisioner.max_concurrency": withDefault(
    integer(PROVISIONER_CONCURRENCY),
    "8",
    "maximum number of concurrent provisioner calls",
  ),
  "gateway.provisioner.model_catalog_refresh_seconds": withDefault(
    integer(MODEL_CATALOG_REFRESH_SECONDS),
    "300",
    "time between two refreshes of the models that the gateway offers",
  ),
  "gateway.provisioner.executable_path": optional(path, "executable that creates gateway keys"),
  "gateway.provisioner.executable_sha256": optional(digest, "SHA-256 digest of the executable"),
  "gateway.provisioner.executable_environment": withDefault(
    list(variable),
    "",
    "environment variables that are passed on to the executable",
  ),
  "gateway.provisioner.policy_revision": optional(
    text,
    "revision of the policy; a new value reconciles every gateway key again",
  ),
  "gateway.provisioner.admin_key": sealed("gateway-admin-key", "admin key of the inference gateway"),
  "gateway.provisioner.policy.models": withDefault(
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
  "gateway.provisioner.policy.team_scoped": withDefault(
    boolean,
    "no",
    "whether a gateway key is created in its user's only team",
  ),
} satisfies Settings;
