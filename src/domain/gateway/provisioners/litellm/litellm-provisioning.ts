// Provisions one key at a LiteLLM-compatible gateway: finds the account, removes keys that an earlier attempt left, then
// updates the existing key to the policy or creates a new one. litellm-api.ts sends the requests.

import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../../platform/clock.ts";
import { sha256Hex } from "../../../../platform/ids.ts";
import type { JsonObject } from "../../../../platform/json/json-object.ts";
import { Secret } from "../../../../platform/secret.ts";
import { EXPIRY_AHEAD_MS } from "../../model.ts";
import type { GatewayPolicy } from "../../settings.ts";
import {
  type PreviousKey,
  type ProvisionedKey,
  ProvisionerError,
  type ProvisionRequest,
} from "../provisioner.ts";
import {
  aliasesOf,
  findAccounts,
  foldEmail,
  onlyAccount,
  onlyTeam,
  ownershipMetadata,
  selectOwnKeys,
} from "./litellm-account.ts";
import type { LitellmApi } from "./litellm-api.ts";
import { type KeyInfo, type ListedKey, parseUpstreamTime } from "./litellm-responses.ts";

/** The desired properties of a key, except its name and lifetime. */
interface Wanted {
  email: string;
  members: JsonObject;
  /** facts that the service stores with the key */
  metadata: JsonObject;
}

/** The steps of one provisioner call, in order. */
export class Provisioning {
  constructor(
    private readonly api: LitellmApi,
    private readonly given: { policy: GatewayPolicy; clock: Clock },
  ) {}

  /** @throws ProvisionerError */
  async run(request: ProvisionRequest): Promise<ProvisionedKey> {
    const email = foldEmail(request.identity.email);
    const account = onlyAccount(await findAccounts(this.api, email));
    const teamId = this.given.policy.teamScoped ? onlyTeam(account) : null;
    const wanted = wantedMembers(this.given.policy, { email, userId: account.userId, teamId });
    const listed = await this.api.keys(account.userId);
    const ours = selectOwnKeys(listed, email);
    const staying = ours.filter((key) => isKept(request, key));
    for (const key of ours) if (!staying.includes(key)) await this.api.remove(key.token);
    const kept = request.previous && (await this.#keep(request.previous, { listed, wanted }));
    return kept ?? (await this.#make(wanted, new Set(staying.map(({ key_alias }) => key_alias))));
  }

  /** @returns the key after the update, or null if it expires so soon that it must be replaced */
  async #keep(
    { externalId, alias }: PreviousKey,
    { listed, wanted }: { listed: readonly ListedKey[]; wanted: Wanted },
  ): Promise<ProvisionedKey | null> {
    const found = await this.api.key(externalId);
    refuseUnusable(found);
    if (!listed.some(({ token }) => token === externalId))
      throw new ProvisionerError("credential_invalid", "the gateway does not list the key for its user");
    const expiresAtMs = parseUpstreamTime(found.info.expires);
    if (expiresAtMs !== null && this.#isEnding(found, expiresAtMs)) return null;
    const changes = this.#changes(found, { alias, wanted });
    const isChanged = Object.keys(changes).length > 0;
    const updated = isChanged ? await this.api.update(externalId, changes) : {};
    return {
      externalId,
      alias,
      metadata: wanted.metadata,
      expiresAtMs: parseUpstreamTime(updated.expires) ?? expiresAtMs,
    };
  }

  /** The service reconciles a key within this time before it expires (model.ts, `reconcileAtMs`). */
  #isEnding({ info }: KeyInfo, expiresAtMs: number): boolean {
    const leftMs = expiresAtMs - this.given.clock.nowMs();
    if (leftMs <= 0) throw new ProvisionerError("credential_invalid", "the key has expired at the gateway");
    const createdAtMs = parseUpstreamTime(info.created_at);
    const halfLifeMs = createdAtMs === null ? EXPIRY_AHEAD_MS : (expiresAtMs - createdAtMs) / 2;
    return leftMs <= Math.min(EXPIRY_AHEAD_MS, halfLifeMs);
  }

  /**
   * Sends only changed values: an unchanged budget period would restart the period, and a lifetime would extend the key.
   * Metadata that administrators added to a key stays.
   */
  #changes({ info }: KeyInfo, { alias, wanted }: { alias: string; wanted: Wanted }): JsonObject {
    const { duration } = this.given.policy;
    const actual: JsonObject = { ...info };
    const all = {
      ...wanted.members,
      key_alias: alias,
      metadata: { ...info.metadata, ...ownershipMetadata(wanted.email) },
      ...(duration !== undefined && info.expires == null && { duration }),
    };
    return Object.fromEntries(
      Object.entries(all).filter(([name, value]) => !isDeepStrictEqual(actual[name], value)),
    );
  }

  async #make(wanted: Wanted, taken: ReadonlySet<string | null | undefined>): Promise<ProvisionedKey> {
    const { duration } = this.given.policy;
    for (const alias of aliasesOf(wanted.email).filter((name) => !taken.has(name))) {
      const made = await this.api.make({
        ...wanted.members,
        key_alias: alias,
        metadata: ownershipMetadata(wanted.email),
        key_type: "llm_api",
        ...(duration !== undefined && { duration }),
      });
      if (!made) continue;
      const { key, token, expires } = made;
      return {
        credential: new Secret(key),
        externalId: token && token !== key ? token : sha256Hex(key),
        alias,
        metadata: wanted.metadata,
        expiresAtMs: parseUpstreamTime(expires),
      };
    }
    throw new ProvisionerError("conflict", "every name that the user's key may have is taken");
  }
}

/** @throws ProvisionerError `credential_invalid` for a key that the gateway has blocked or deleted */
function refuseUnusable({ blocked, info }: KeyInfo): void {
  if (blocked || info.blocked) {
    throw new ProvisionerError("credential_invalid", "the gateway has blocked the key");
  }
  if (info.status?.toLowerCase() === "deleted" || info.deleted_at != null) {
    throw new ProvisionerError("credential_invalid", "the gateway has deleted the key");
  }
}

/**
 * @returns whether a key of ours is in use, not left over from an attempt: the service knows it, or is replacing a healthy key
 * and revokes it once the new one is stored
 */
const isKept = ({ reason, previous }: ProvisionRequest, { token }: ListedKey): boolean =>
  previous
    ? token === previous.externalId
    : reason === "configuration_changed" || reason === "reconciliation_due";

function wantedMembers(
  policy: GatewayPolicy,
  { email, userId, teamId }: { email: string; userId: string; teamId: string | null },
): Wanted {
  const limits = {
    max_budget: policy.maxBudget,
    budget_duration: policy.budgetDuration,
    rpm_limit: policy.rpmLimit,
    tpm_limit: policy.tpmLimit,
    max_parallel_requests: policy.maxParallelRequests,
    team_id: teamId ?? undefined,
  };
  const isSet = Object.entries(limits).filter(([, value]) => value !== undefined);
  const { models } = policy;
  return {
    email,
    members: { user_id: userId, models, ...Object.fromEntries(isSet) },
    metadata: { team_id: teamId, models },
  };
}
