// Names that the workstation client and the inference proxy read, exactly as they need them.

/** Claim that binds an inference token to the login session behind it. */
export const SESSION_CLAIM = "blue_oauth_session_id";
/** Claim that names the gateway session: what the proxy asks for the key with. */
export const GATEWAY_SESSION_CLAIM = "gateway_session_id";
/** The one scope of an inference token. */
export const INFERENCE_SCOPE = "gateway:infer";
export const DEFAULT_AUDIENCE = "blue-inference-proxy";

/** What our keys are called upstream: `quartermaster:ana@example.org`, then `…-2`. No client reads it. */
export const ALIAS_PREFIX = "quartermaster";
