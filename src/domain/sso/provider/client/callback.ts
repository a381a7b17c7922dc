// Reads the query with which the provider sends the browser back (RFC 6749 section 4.1.2, RFC 9207, OpenID Connect Core 1.0 section
// 3.1.2.6).
import type { DomainError } from "../../../../platform/errors.ts";
import type { ProviderMetadata } from "../discovery/metadata.ts";
import {
  callbackError,
  callbackIssuer,
  canceled,
  codeRejected,
  forLog,
  interactionRequired,
  stateUnknown,
} from "../failures.ts";

const ERRORS: Readonly<Record<string, (cause: string) => DomainError>> = {
  access_denied: canceled,
  login_required: interactionRequired,
  interaction_required: interactionRequired,
  account_selection_required: interactionRequired,
  consent_required: interactionRequired,
};

/** The relevant parameters; each may occur once. */
const DECISIVE = ["state", "iss", "code", "error", "response"];

/** The characters of a code (RFC 6749 appendix A.11). For others, a provider might send an error that looks like its own failure. */
const CODE = /^[\x20-\x7e]+$/;
export const CODE_LENGTH_MAX = 8192;

/**
 * @param state of the attempt
 * @returns the code to redeem
 * @throws DomainError `sso.state` if the browser's response belongs to another attempt; `sso.cancelled`,
 * `sso.interaction_required`, `sso.callback_error`, `sso.callback_issuer`; `sso.code_rejected` for a text that is not a code
 */
export function readCode(
  query: URLSearchParams,
  state: string,
  { issuer, namesIssuer }: Pick<ProviderMetadata, "issuer" | "namesIssuer">,
): string {
  const repeated = DECISIVE.find((name) => query.getAll(name).length > 1);
  if (repeated !== undefined) throw stateUnknown(`${repeated} is repeated`);
  if (query.get("state") !== state) throw stateUnknown("state is another");
  const iss = query.get("iss");
  if (iss === null && namesIssuer) throw callbackIssuer("iss is missing");
  if (iss !== null && iss !== issuer) throw callbackIssuer(`iss is another: ${forLog(iss)}`);
  const error = query.get("error");
  if (error !== null) throw callbackErrorOf(error, query.get("error_description"));
  const code = query.get("code");
  if (!code) throw stateUnknown("code is missing");
  if (code.length > CODE_LENGTH_MAX || !CODE.test(code)) throw codeRejected("it is not a code");
  return code;
}

function callbackErrorOf(error: string, description: string | null): DomainError {
  const make = Object.hasOwn(ERRORS, error) ? ERRORS[error] : undefined;
  return (make ?? callbackError)(forLog(description === null ? error : `${error}: ${description}`));
}
