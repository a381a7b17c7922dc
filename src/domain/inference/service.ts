// Assembles the admission of inference requests, if this service forwards them, and the model catalog. records.ts assembles the log
// and usage.
import type { Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import type { GatewayKeys, GatewayMode, Resolve } from "../gateway/service.ts";
import type { Governance } from "../governance/service.ts";
import type { Identity } from "../identity/service.ts";
import type { SigningKeyRing } from "../shared/signing-keys/signing-key-ring.ts";
import { Admission } from "./admission/admission.ts";
import type { Budgets } from "./log/record.ts";
import { createAllowedModels } from "./models/allowed-models.ts";
import { ModelCatalog, type ModelCatalogDependencies } from "./models/catalog.ts";
import type { ProxySettings } from "./settings.ts";

export interface AdmissionDependencies {
  db: Db;
  clock: Clock;
  identity: Pick<Identity, "findUserById">;
  mode: GatewayMode | undefined;
  inference: { resolve: Resolve; signingKeys: SigningKeyRing | undefined };
  gatewayKeys: Pick<GatewayKeys, "recover">;
  budgets: Budgets;
}

/**
 * @param settings undefined unless this service forwards inference requests
 * @returns undefined if it does not
 */
export function createAdmission(
  { mode, inference, ...dependencies }: AdmissionDependencies,
  settings: ProxySettings | undefined,
): Admission | undefined {
  const { resolve, signingKeys: keys } = inference;
  if (!settings || !mode || !keys) return undefined;
  const { issuer, audience } = mode.settings.inferenceJwt;
  return new Admission({ ...dependencies, settings, resolve, keys, issuer, audience });
}

/** @returns the model catalog, and a function that returns the models that requests may use */
export function createModels({
  identity,
  governance,
  proxySettings,
  ...dependencies
}: Omit<ModelCatalogDependencies, "revisions"> & {
  identity: Pick<Identity, "organization">;
  governance: Pick<Governance, "revisions">;
  /** undefined unless this service forwards inference requests */
  proxySettings?: ProxySettings | undefined;
}) {
  const { revisions } = governance;
  return {
    modelCatalog: new ModelCatalog({ ...dependencies, revisions }),
    allowedModels: createAllowedModels({
      revisions,
      organizationId: () => identity.organization()?.id,
      modelPolicy: proxySettings?.modelPolicy ?? "off",
    }),
  };
}
