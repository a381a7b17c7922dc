// The state of company sign-in for administrators, without secrets.
import { type Static, Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../platform/clock.ts";
import type { ProviderRecord } from "./provider/provider-records.ts";
import { registrationOf } from "./registration.ts";
import type { SsoSettings } from "./settings.ts";

const Text = Type.Union([Type.String(), Type.Null()]);

export const OidcStatus = Type.Object({
  configured: Type.Boolean(),
  issuer: Text,
  provider_id: Text,
  provider_name: Text,
  provisioning: Type.Union([Type.Literal("scim"), Type.Literal("invited"), Type.Literal("jit"), Type.Null()]),
  redirect_uri: Type.Union([Type.String(), Type.Null()], {
    description: "must be registered at the provider, exactly like this",
  }),
  last_error_reason: Type.Union([Type.String(), Type.Null()], {
    description: "why the last sign-in failed, unless one succeeded since",
  }),
  last_success_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
});

/** @returns the state; without a provider, `configured` is false and everything else is null */
export function oidcStatus(
  settings: SsoSettings | undefined,
  record: ProviderRecord | undefined,
  /** origin of this service; empty if it is not known */
  origin: string,
): Static<typeof OidcStatus> {
  const lastSuccessAtMs = record?.lastSuccessAtMs ?? null;
  return {
    configured: settings !== undefined,
    issuer: settings?.issuer ?? null,
    provider_id: settings?.providerId ?? null,
    provider_name: settings?.providerName ?? null,
    provisioning: settings?.provisioning ?? null,
    redirect_uri: settings ? registrationOf(origin, settings).redirectUri : null,
    last_error_reason: record?.lastErrorReason ?? null,
    last_success_at: lastSuccessAtMs === null ? null : toRfc3339(lastSuccessAtMs),
  };
}
