// The relying party of this product, connected to a provider on this machine without the rest of the service.
import { Provider } from "../../../src/domain/sso/provider/provider.ts";
import type { CurrentSsoSettings, SsoSettings } from "../../../src/domain/sso/settings.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { createOutbound } from "../../../src/platform/outbound/outbound.ts";
import type { World } from "../world.ts";

export const REDIRECT_URI = "https://control.example.com/api/auth/callback/oidc";

/** @returns a relying party that knows the provider only from the database of the world */
export function relyingPartyOf(
  idp: { settings(members: Partial<SsoSettings>): SsoSettings },
  world: World,
  members: Partial<SsoSettings> = {},
): Provider {
  const settings = idp.settings(members);
  return createRelyingParty(world, () => settings);
}

/** @returns the same, with settings that may change, and with shorter timeouts */
export function createRelyingParty(
  world: World,
  settings: CurrentSsoSettings,
  responseTimeoutMs?: number,
): Provider {
  const outbound = createOutbound({ allowed: [], found: () => provider.destinations() });
  const provider = new Provider({ ...world, outbound, settings, responseTimeoutMs });
  return provider;
}

/** @returns kind and reason of the refusal */
export async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DomainError)) throw error ?? new Error("it succeeded");
  return `${error.kind} ${error.reason}`;
}
