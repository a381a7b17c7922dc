// Settings of tokens, login sessions and attempts: `access.*` and `limits.*`.
import { integer } from "../types.ts";
import { type Settings, withDefault } from "./setting.ts";

export const ACCESS_TOKEN_TTL_SECONDS = { min: 60, max: 3600 };
const REFRESH_TOKEN_TTL_SECONDS = { min: 3600, max: 31_536_000 };
const BROWSER_SESSION_TTL_SECONDS = { min: 300, max: 2_592_000 };
const DEVICE_CODE_TTL_SECONDS = { min: 60, max: 3600 };
const POLL_INTERVAL_SECONDS = { min: 1, max: 60 };
export const SIGNING_KEY_ROTATION_DAYS = { min: 1, max: 365 };
/** a token takes at most 64 bytes, so 64 MB is enough for a million workstations */
const TOKEN_MEMORY_MB = { min: 1, max: 4096 };
/** attempts in one window */
export const ATTEMPTS = { min: 1, max: 100_000 };
export const WINDOW_SECONDS = { min: 1, max: 86_400 };

export const ACCESS_SETTINGS = {
  "access.access_token_ttl_seconds": withDefault(
    integer(ACCESS_TOKEN_TTL_SECONDS),
    "900",
    "lifetime of an access token",
  ),
  "access.refresh_token_ttl_seconds": withDefault(
    integer(REFRESH_TOKEN_TTL_SECONDS),
    "2592000",
    "lifetime of a refresh token",
  ),
  "access.browser_session_ttl_seconds": withDefault(
    integer(BROWSER_SESSION_TTL_SECONDS),
    "43200",
    "lifetime of a login session in a browser",
  ),
  "access.device_code_ttl_seconds": withDefault(
    integer(DEVICE_CODE_TTL_SECONDS),
    "600",
    "time to approve a device login",
  ),
  "access.poll_interval_seconds": withDefault(
    integer(POLL_INTERVAL_SECONDS),
    "5",
    "minimum time between two polls of a device login",
  ),
  "access.signing_key_rotation_days": withDefault(
    integer(SIGNING_KEY_ROTATION_DAYS),
    "30",
    "age at which the signing key is replaced",
  ),
  "access.token_memory_mb": withDefault(
    integer(TOKEN_MEMORY_MB),
    "64",
    "memory for verified access tokens in MB, 64 bytes for each token; data of their workstations takes another 1.5 times as much",
  ),
  "limits.password_guesses_per_account_and_address": withDefault(
    integer(ATTEMPTS),
    "10",
    "wrong passwords in a window for one account from one address, or from one browser that has signed in before",
  ),
  "limits.password_guesses_per_account": withDefault(
    integer(ATTEMPTS),
    "200",
    "wrong passwords in a window for one account, not counting browsers that have signed in before",
  ),
  "limits.password_guesses_per_address": withDefault(
    integer(ATTEMPTS),
    "50",
    "wrong passwords from one address in a window",
  ),
  "limits.second_factor_guesses": withDefault(
    integer(ATTEMPTS),
    "5",
    "wrong codes of a second factor in a window for one account, or in one browser that has signed in before",
  ),
  "limits.user_code_guesses_per_user": withDefault(
    integer(ATTEMPTS),
    "5",
    "wrong user codes by one user in a window",
  ),
  "limits.user_code_guesses_per_address": withDefault(
    integer(ATTEMPTS),
    "20",
    "wrong user codes from one address in a window",
  ),
  "limits.device_codes_per_address": withDefault(
    integer(ATTEMPTS),
    "600",
    "device logins started from one address in a window",
  ),
  "limits.pending_logins_per_address": withDefault(
    integer(ATTEMPTS),
    "200",
    "device logins from one address that may wait for a decision at the same time",
  ),
  "limits.pending_logins_per_network": withDefault(
    integer(ATTEMPTS),
    "1000",
    "device logins from one network (IPv4 /24, IPv6 /48) that may wait for a decision at the same time",
  ),
  "limits.invitations_per_actor": withDefault(
    integer(ATTEMPTS),
    "100",
    "invitations sent by one actor in a window; counted separately, password links made by one actor",
  ),
  "limits.window_seconds": withDefault(
    integer(WINDOW_SECONDS),
    "900",
    "length of the window for these limits",
  ),
} satisfies Settings;
