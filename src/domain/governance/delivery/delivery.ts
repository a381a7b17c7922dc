// What one caller gets of the policy in force: the document of the caller's audience group and, in gateway mode, with the
// caller's own way to the inference proxy in it. A policy that cannot be put together is a refusal, never an empty one.

import { DomainError } from "../../../platform/errors.ts";
import type { GatewayKeyStatus, InferenceToken, KeyAnswer, Workstation } from "../../gateway/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { GovernanceConfig, Revision } from "../model.ts";
import { AudienceGroups, type PolicyView } from "./audience-groups.ts";

export type { PolicyView } from "./audience-groups.ts";

/** What delivery needs of gateway mode. */
export interface DeliveryGateway {
  ensureKey(request: { actor: Actor; user: { id: string; email: string } }): Promise<KeyAnswer>;
  mint(workstation: Workstation): Promise<InferenceToken>;
}

export interface DeliveryDependencies {
  inForce(organizationId: string): Revision;
  /** undefined where gateway mode is off */
  gateway: DeliveryGateway | undefined;
}

/** What most requests need of a policy: whether the caller has it already, and may have it. */
export interface PolicyGlance {
  /** as `AudienceGroups.nameOf` */
  name: string;
  /** what everybody's document says, beside packages and what belongs to them */
  common: GovernanceConfig;
}

/** The workstation that asks, and on whose behalf. */
export interface PolicyCaller {
  actor: Actor;
  email: string;
  workstation: Workstation;
}

const RETRY_SECONDS = 10;

export type Delivery = ReturnType<typeof createDelivery>;

/** @returns the operations; made once, in domain.ts */
export function createDelivery({ inForce, gateway }: DeliveryDependencies) {
  const groups = new Map<string, AudienceGroups>();

  const groupsOf = (revision: Revision): AudienceGroups => {
    const known = groups.get(revision.organizationId);
    if (known?.revision === revision) return known;
    const fresh = new AudienceGroups(revision);
    groups.set(revision.organizationId, fresh);
    return fresh;
  };

  return {
    /**
     * @returns the revision in force
     * @throws DomainError `governance.no_policy`, `governance.not_computed`
     */
    inForce: (organizationId: string): Revision => computed(() => inForce(organizationId)),

    /**
     * Puts no document together.
     * @throws as `viewFor`
     */
    glanceFor: ({ organizationId, userId }: { organizationId: string; userId: string }): PolicyGlance =>
      computed(() => {
        const revision = inForce(organizationId);
        return { name: groupsOf(revision).nameOf(userId), common: revision.document };
      }),

    /**
     * @returns what the user gets; the same object for everybody who gets the same
     * @throws DomainError `governance.no_policy`, `governance.not_computed`
     */
    viewFor: ({ organizationId, userId }: { organizationId: string; userId: string }): PolicyView =>
      computed(() => groupsOf(inForce(organizationId)).viewOf(userId)),

    /**
     * Makes sure that the caller has a gateway key.
     * @param document one with a gateway block
     * @returns the document with where the inference proxy is and a new token for it: for this caller, and for now
     * @throws DomainError `gateway.key_needed`, `gateway.login_ended`, `gateway.session_revoked`,
     *   `governance.gateway_off`; ProvisionerError where the gateway refused
     */
    async withGateway(document: GovernanceConfig, caller: PolicyCaller): Promise<GovernanceConfig> {
      if (!gateway) throw gatewayIsOff();
      const user = { id: caller.workstation.userId, email: caller.email };
      const { status } = await gateway.ensureKey({ actor: caller.actor, user });
      if (status.status !== "ready") throw keyNeeded(status);
      const { token, proxyUrl } = await gateway.mint(caller.workstation);
      return {
        ...document,
        gateway: { type: "litellm", proxy_url: proxyUrl, token, auth_style: "bearer" },
      };
    },
  };
}

/** A later request may succeed. Until then the client keeps the policy that it has. */
function computed<T>(compute: () => T): T {
  try {
    return compute();
  } catch (cause) {
    if (cause instanceof DomainError) throw cause;
    const message = "the policy cannot be put together now; the log of the service says why";
    throw new DomainError("unavailable", "governance.not_computed", message, {
      cause,
      retryAfterSeconds: RETRY_SECONDS,
    });
  }
}

/** Clients show the text as it is, its first two hundred characters. */
const keyNeeded = ({ status }: GatewayKeyStatus) =>
  new DomainError(
    "conflict",
    "gateway.key_needed",
    `you have no usable gateway key (it is ${status}); run the client's gateway command to see why and to get one`,
  );

const gatewayIsOff = () =>
  new DomainError(
    "unavailable",
    "governance.gateway_off",
    "the policy in force needs gateway mode, which is off",
    { hint: "start the service again: it publishes what its settings say", retryAfterSeconds: RETRY_SECONDS },
  );
