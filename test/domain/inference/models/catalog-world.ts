// A server with a gateway in this process, whose models a test sets and whose policy assigns them.
import type { ModelState } from "../../../../src/domain/inference/models/model.ts";
import { shared } from "../../../support/shared.ts";
import { SETTINGS } from "../../gateway/gateway-world.ts";
import { Upstream } from "../../gateway/provisioners/litellm/upstream.ts";
import { createGovernanceWorld, type GovernanceWorld } from "../../governance/governance-world.ts";

export interface CatalogWorld extends GovernanceWorld {
  upstream: Upstream;
}

/** The policy allows codex and claude. */
async function createCatalogWorld(): Promise<CatalogWorld> {
  const upstream = new Upstream(() => 0);
  const gatewayMode = { settings: SETTINGS, provisioner: upstream.provisioner(), configurationDigest: "one" };
  const section = { revision: "file", allowed_harnesses: ["codex", "claude"] };
  return Object.assign(await createGovernanceWorld(section, { gatewayMode }), { upstream });
}

/** @returns a function for the tests of one file: a world whose gateway offers no models */
export function sharedCatalogWorld(): () => Promise<CatalogWorld> {
  const made = shared(createCatalogWorld, (world) => world);
  return async () => {
    const world = await made();
    Object.assign(world.upstream, {
      models: [],
      sourceRevision: null,
      listingFailure: undefined,
      listings: 0,
    });
    world.upstream.letGo();
    return world;
  };
}

export const offer = (world: CatalogWorld, ...models: (string | object)[]): void => {
  world.upstream.models = models.map((model) => (typeof model === "string" ? { id: model } : model));
};
export const refresh = ({ domain, world }: CatalogWorld) => domain.modelCatalog.refresh(world.organizationId);
export const viewOf = ({ domain, world }: CatalogWorld) => domain.modelCatalog.view(world.organizationId);
export const statesOf = (world: CatalogWorld): Record<string, ModelState> =>
  Object.fromEntries(viewOf(world).models.map(({ id, state }) => [id, state]));
export const assign = (
  { governance, admin, inForce }: CatalogWorld,
  harness: string,
  ...gatewayModels: string[]
) => governance.publishing.publishModels(admin, { harness, gatewayModels, baseRevision: inForce().id });
