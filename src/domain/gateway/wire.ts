// Names on the wire that the workstation client and the inference proxy depend on.

/** Claim that binds an inference token to its login session. */
export const SESSION_CLAIM = "blue_oauth_session_id";
/** Claim that names the gateway session; the proxy uses it to request the key. */
export const GATEWAY_SESSION_CLAIM = "gateway_session_id";
/** The only scope of an inference token. */
export const INFERENCE_SCOPE = "gateway:infer";
export const DEFAULT_AUDIENCE = "blue-inference-proxy";

/** Prefix of our keys' names upstream: `quartermaster:ana@example.org`, then `…-2`. No client reads it. */
export const ALIAS_PREFIX = "quartermaster";
