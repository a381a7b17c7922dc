// The caller of a SCIM route for the services.

import type { ScimCaller } from "../../domain/scim/model.ts";
import { invariant } from "../../platform/errors.ts";
import { exchangeOf } from "../http/exchange.ts";

/** @returns the caller of a guarded route */
export function providerOf(request: Request): ScimCaller {
  const caller = exchangeOf(request).scim?.caller;
  invariant(caller, "the route has a guard that needs an identity provider");
  return caller;
}

/** @returns the caller for the audit log, with request id and network address, which only changes need */
export function changingProviderOf(request: Request): ScimCaller {
  const { requestId, address } = exchangeOf(request);
  const { actor, profile } = providerOf(request);
  return { profile, actor: { ...actor, requestId, ...(address !== null && { address }) } };
}
