// The built-in provisioner with a small real gateway, reached through the real platform/outbound.
import { createLitellmProvisioner } from "../../../src/domain/gateway/provisioners/litellm/litellm.ts";
import { createAdminRequest } from "../../../src/domain/gateway/provisioners/litellm/litellm-request.ts";
import type { Provisioner } from "../../../src/domain/gateway/provisioners/provisioner.ts";
import type { GatewayPolicy, ProvisionerSettings } from "../../../src/domain/gateway/settings.ts";
import { createOutbound } from "../../../src/platform/outbound/outbound.ts";
import { Secret } from "../../../src/platform/secret.ts";
import type { Upstream } from "../../contracts/provisioner-suite.ts";
import { type HeldClock, heldClock } from "../world.ts";
import { ADMIN_KEY, LitellmGateway, type LitellmGatewayOptions } from "./litellm-gateway.ts";

export const OPEN_POLICY: GatewayPolicy = {
  models: [],
  maxBudget: undefined,
  budgetDuration: undefined,
  rpmLimit: undefined,
  tpmLimit: undefined,
  maxParallelRequests: undefined,
  duration: undefined,
  teamScoped: false,
};

export interface BuiltinOptions extends Pick<LitellmGatewayOptions, "writeTime" | "countsPages" | "version"> {
  policy?: Partial<GatewayPolicy>;
  adminKey?: string;
}

export interface BuiltinProvisioner extends AsyncDisposable {
  provisioner: Provisioner;
  gateway: LitellmGateway;
  upstream: Upstream;
  clock: HeldClock;
  /** @returns a provisioner with the same gateway and another configuration */
  configured(options: BuiltinOptions): Provisioner;
}

export async function createBuiltinProvisioner(options: BuiltinOptions = {}): Promise<BuiltinProvisioner> {
  const clock = heldClock();
  const gateway = await LitellmGateway.start({ ...options, clock });
  const outbound = createOutbound({ allowed: [{ name: "gateway", origin: gateway.origin, why: "keys" }] });
  const request = createAdminRequest(outbound, "gateway");
  const configured = (given: BuiltinOptions) =>
    createLitellmProvisioner({ settings: { provisioner: settingsOf(given) }, request, clock });
  return {
    provisioner: configured(options),
    configured,
    gateway,
    upstream: upstreamOf(gateway),
    clock,
    [Symbol.asyncDispose]: () => gateway.stop(),
  };
}

/** The defaults of the settings. */
export const BUILTIN_SETTINGS: ProvisionerSettings = {
  type: "builtin-litellm",
  reconcileTtlSeconds: 86_400,
  timeoutSeconds: 15,
  modelCatalogRefreshSeconds: 300,
  maxConcurrency: 8,
  executable: undefined,
  policyRevision: undefined,
  adminKey: new Secret(ADMIN_KEY),
  policy: OPEN_POLICY,
};

const settingsOf = ({ policy = {}, adminKey = ADMIN_KEY }: BuiltinOptions): ProvisionerSettings => ({
  ...BUILTIN_SETTINGS,
  adminKey: new Secret(adminKey),
  policy: { ...OPEN_POLICY, ...policy },
});

const upstreamOf = (gateway: LitellmGateway): Upstream => ({
  keys: async () =>
    gateway.keys
      .filter(({ blocked }) => !blocked)
      .map(({ token, key_alias, user_id }) => ({
        externalId: token,
        alias: key_alias ?? "",
        email: gateway.users.find((user) => user.user_id === user_id)?.user_email ?? "",
      })),
  addAccount: async (email) => gateway.addUser(email),
  offer: async (models) => {
    gateway.models = models.map((model) => ({ ...model }));
  },
  block: async (externalId) => {
    for (const key of gateway.keys) if (key.token === externalId) key.blocked = true;
  },
});
