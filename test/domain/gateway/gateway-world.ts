// A world with identity and gateway keys, with a gateway in this process.
import { createKeyRetirement } from "../../../src/domain/gateway/keys/key-retirement.ts";
import { findKey, putKey } from "../../../src/domain/gateway/keys/store.ts";
import type { KeyRow } from "../../../src/domain/gateway/model.ts";
import {
  type AttemptOwner,
  createGateway,
  type Gateway,
  type ProvisionerCall,
} from "../../../src/domain/gateway/service.ts";
import type { GatewaySettings } from "../../../src/domain/gateway/settings.ts";
import type { User } from "../../../src/domain/identity/service.ts";
import { openSealing, type Sealing } from "../../../src/platform/crypto/sealing.ts";
import { createIdentityWorld, type IdentityWorld } from "../../support/identity-world.ts";
import { Upstream } from "./provisioners/litellm/upstream.ts";

export const SETTINGS: GatewaySettings = {
  type: "litellm",
  url: "https://gateway.example.org",
  inferenceProxyUrl: "https://inference.example.org",
  inferenceProxyHealthUrl: "https://inference.example.org",
  proxyMode: "external",
  proxyToken: undefined,
  inferenceJwt: {
    issuer: "https://control.example.com",
    audience: "blue-inference-proxy",
    tokenTtlSeconds: 43_200,
    rotationDays: 30,
  },
  provisioner: {
    type: "builtin-litellm",
    reconcileTtlSeconds: 86_400,
    timeoutSeconds: 15,
    modelCatalogRefreshSeconds: 300,
    maxConcurrency: 4,
    executable: undefined,
    policyRevision: undefined,
    adminKey: undefined,
    policy: {
      models: [],
      maxBudget: undefined,
      budgetDuration: undefined,
      rpmLimit: undefined,
      tpmLimit: undefined,
      maxParallelRequests: undefined,
      duration: undefined,
      teamScoped: false,
    },
  },
};

export interface GatewayWorld extends IdentityWorld {
  gateway: Gateway;
  upstream: Upstream;
  sealing: Sealing;
  calls: ProvisionerCall[];
  /** the groups that the provisioner is given for every user */
  groups: string[];
  /** Opens the area again, like a start after a crash: running work of the old one is forgotten. */
  restart(configurationDigest?: string): void;
  /** Opens the area again, like a command while the service runs. */
  beside(): Gateway;
}

export interface GatewayWorldOptions {
  isOff?: boolean;
}

export async function createGatewayWorld({ isOff = false }: GatewayWorldOptions = {}): Promise<GatewayWorld> {
  const world = await createIdentityWorld();
  const upstream = new Upstream(() => world.clock.nowMs());
  const sealing = openSealing({ directory: `${world.directory}/keys`, ids: world.ids });
  const calls: ProvisionerCall[] = [];
  const groups: string[] = [];
  const join = (configurationDigest = "first", attemptsBy: AttemptOwner = "service"): Gateway =>
    createGateway({
      ...world,
      sealing,
      groupsOf: () => groups,
      mode: isOff
        ? undefined
        : { settings: SETTINGS, provisioner: upstream.provisioner(), configurationDigest },
      attemptsBy,
      observe: (call) => void calls.push(call),
      requireConfirmation: () => {}, // no user here has a second factor
    });
  const joined: GatewayWorld = {
    ...world,
    gateway: join(),
    upstream,
    sealing,
    calls,
    groups,
    restart: (digest) => {
      joined.gateway = join(digest);
    },
    beside: () => join("first", "command"),
  };
  return joined;
}

/** Revokes a user's key, as happens when access ends. */
export const retire = (world: GatewayWorld, user: User): Promise<void> =>
  world.db.write(
    (tx) =>
      createKeyRetirement(world)(tx, {
        userId: user.id,
        reason: "user_suspended",
        nowMs: world.clock.nowMs(),
      }),
    "gateway",
  );

/** Changes the stored row of a user's key, if there is one. */
export const changeRow = (world: GatewayWorld, { id }: User, changes: Partial<KeyRow>): Promise<void> =>
  world.db.write((tx) => {
    const row = findKey(tx, id);
    if (row) putKey(tx, { ...row, ...changes });
  }, "gateway");
