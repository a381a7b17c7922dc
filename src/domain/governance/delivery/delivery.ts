// Builds the policy for one caller: the document of the caller's audience group and, in gateway mode, the caller's access to
// the inference proxy. If the policy cannot be built, the request fails; it never returns an empty policy.

import { DomainError } from "../../../platform/errors.ts";
import type { GatewayKeyStatus, GatewayKeys, InferenceTokens, Workstation } from "../../gateway/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { UserGroups } from "../../shared/user-groups.ts";
import type { GovernanceConfig, Revision } from "../model.ts";
import type { Revisions } from "../reading/revisions.ts";
import { AudienceGroups, type PolicyTag, type PolicyView } from "./audience-groups.ts";

export type { PolicyTag, PolicyView } from "./audience-groups.ts";

export interface DeliveryDependencies {
  revisions: Pick<Revisions, "inForce">;
  userGroups: Pick<UserGroups, "of">;
  /** undefined if gateway mode is off */
  gateway: { keys: Pick<GatewayKeys, "ensure">; tokens: Pick<InferenceTokens, "mint"> } | undefined;
}

/** The requesting workstation and its user. */
export interface PolicyCaller {
  actor: Actor;
  email: string;
  workstation: Workstation;
}

const RETRY_SECONDS = 10;

export type Delivery = ReturnType<typeof createDelivery>;

export function createDelivery({ revisions, userGroups, gateway }: DeliveryDependencies) {
  const groups = new Map<string, AudienceGroups>();

  const groupsOf = (revision: Revision): AudienceGroups => {
    const known = groups.get(revision.organizationId);
    if (known?.revision === revision) return known;
    const fresh = new AudienceGroups(revision, userGroups);
    groups.set(revision.organizationId, fresh);
    return fresh;
  };

  return {
    /**
     * @returns the current revision
     * @throws DomainError `governance.no_policy`, `governance.not_computed`
     */
    inForce: (organizationId: string): Revision => computed(() => revisions.inForce(organizationId)),

    /**
     * Builds no document.
     * @returns the tag for the user; users with the same document share one object
     * @throws like `viewFor`
     */
    tagFor: ({ organizationId, userId }: { organizationId: string; userId: string }): PolicyTag =>
      computed(() => groupsOf(revisions.inForce(organizationId)).tagOf(userId)),

    /**
     * @returns the document for the user; users with the same document share one object
     * @throws DomainError `governance.no_policy`, `governance.not_computed`
     */
    viewFor: ({ organizationId, userId }: { organizationId: string; userId: string }): PolicyView =>
      computed(() => groupsOf(revisions.inForce(organizationId)).viewOf(userId)),

    /**
     * Ensures that the caller has a gateway key.
     * @param document with a gateway block
     * @returns the document with the address of the inference proxy and a new token for this caller
     * @throws DomainError `gateway.key_needed`, `gateway.login_ended`, `gateway.session_revoked`, `governance.gateway_off`;
     * ProvisionerError if the gateway refused
     */
    async withGateway(document: GovernanceConfig, caller: PolicyCaller): Promise<GovernanceConfig> {
      if (!gateway) throw gatewayIsOff();
      const user = { id: caller.workstation.userId, email: caller.email };
      const { status } = await gateway.keys.ensure({ actor: caller.actor, user, manual: false });
      if (status.status !== "ready") throw keyNeeded(status);
      const { token, proxyUrl } = await gateway.tokens.mint(caller.workstation);
      return {
        ...document,
        gateway: { type: "litellm", proxy_url: proxyUrl, token, auth_style: "bearer" },
      };
    },
  };
}

/** A later request may succeed. Until then the client keeps its current policy. */
function computed<T>(compute: () => T): T {
  try {
    return compute();
  } catch (cause) {
    if (cause instanceof DomainError) throw cause;
    const message = "the policy cannot be built now; the log of the service has the reason";
    throw new DomainError("unavailable", "governance.not_computed", message, {
      cause,
      retryAfterSeconds: RETRY_SECONDS,
    });
  }
}

/** Clients show the first 200 characters of the text unchanged. */
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
    "the current policy needs gateway mode, which is off",
    {
      hint: "restart the service, which publishes a policy for its current settings",
      retryAfterSeconds: RETRY_SECONDS,
    },
  );
