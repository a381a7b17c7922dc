// Policy operations of workstations: the caller's document, prepared once per revision and audience group, and the stream of
// new revisions. governance-admin.ts publishes.
import { Type } from "@sinclair/typebox";
import { Counter, Gauge, type Registry } from "prom-client";
import type { Domain } from "../../../domain/domain.ts";
import type { Delivery, PolicyTag, PolicyView } from "../../../domain/governance/delivery/delivery.ts";
import { GovernanceConfig } from "../../../domain/governance/model.ts";
import { REQUIRED_CLIENT_VERSION_HEADER } from "../../../domain/governance/wire.ts";
import { noToken } from "../../auth/guard.ts";
import {
  hasCurrent,
  type PreparedResponse,
  prepareResponse,
  prepareUnchanged,
  respondUnchanged,
  respondWhole,
  type UnchangedResponse,
} from "../../http/conditional.ts";
import { STREAMS_PER_LOGIN_MAX, STREAMS_PER_USER_MAX } from "../../http/event-streams.ts";
import { actorOf, principalOf } from "../../http/exchange.ts";
import { eventStream, json } from "../../http/responses.ts";
import { responsesByStatus } from "../../metrics/response-metrics.ts";
import { operationsOf } from "../../openapi.ts";
import {
  createNegotiation,
  POLICY_VARY,
  type RefuseOldClient,
  requiredVersionHeader,
} from "../../policy-api/negotiation.ts";
import type { RouteContext } from "../../router.ts";

const describe = operationsOf("Configuration");
const PATH = "/governance-config";

export function governanceRoutes({ router, domain, metrics, streams }: RouteContext) {
  const own: Dependencies = {
    delivery: domain.delivery,
    prepared: new WeakMap(),
    unchanged: new WeakMap(),
    refuseOldClient: createNegotiation(),
  };
  registerMetrics(metrics, domain);

  return router
    .get(PATH, ({ request }) => respondWithPolicy(own, request), {
      requires: "governance:read",
      detail: describe("getGovernanceConfig", "The policy of the caller", {
        200: {
          description: `The document, without packages for other audiences; ${REQUIRED_CLIENT_VERSION_HEADER} if it pins a client version. In gateway mode it contains the caller's own inference token and must not be stored`,
          schema: GovernanceConfig,
        },
        304: { description: "Unchanged since the ETag in If-None-Match; not in gateway mode" },
        404: { description: "No policy is published yet" },
        409: { description: "The caller has no usable gateway key; the detail explains how to get one" },
        426: { description: "The contract version or the capabilities of the client are insufficient" },
        502: { description: "The gateway is unavailable, or refused" },
        503: { description: "The policy cannot be assembled now" },
      }),
    })
    .get("/governance-config/events", ({ request }) => eventStream(streams.open(principalOf(request))), {
      requires: "governance:read",
      detail: describe("streamGovernanceRevisions", "Events with the ids of policy revisions", {
        200: {
          description:
            "An event `revision` with the id of the current revision, then one for each published revision; ends when the credential expires or an event may have been missed",
          schema: Type.String(),
          mediaType: "text/event-stream",
        },
        404: { description: "No policy is published yet" },
        429: {
          description: `The login has ${STREAMS_PER_LOGIN_MAX} streams open, or its user ${STREAMS_PER_USER_MAX}; Retry-After says when to try again`,
        },
        503: { description: "Too many streams are open, or the service is stopping" },
      }),
    });
}

interface Dependencies {
  delivery: Delivery;
  /** cached responses by view */
  prepared: WeakMap<PolicyView, PreparedResponse>;
  unchanged: WeakMap<PolicyTag, UnchangedResponse>;
  refuseOldClient: RefuseOldClient;
}

const CACHE_CONTROL = "private, no-cache";

/** @returns a promise in gateway mode */
function respondWithPolicy(own: Dependencies, request: Request): Response | Promise<Response> {
  const { delivery } = own;
  const principal = principalOf(request);
  const tag = delivery.tagFor(principal);
  own.refuseOldClient(request, tag.common);
  if (tag.common.gateway) return respondToOne(delivery, request, delivery.viewFor(principal));
  const unchanged = unchangedOf(own.unchanged, tag);
  if (hasCurrent(request, unchanged.etag)) return respondUnchanged(unchanged);
  return respondWhole(preparedOf(own.prepared, delivery.viewFor(principal)));
}

const tagOf = ({ name }: Pick<PolicyTag, "name">): string => `"${name}"`;

const othersOf = (document: PolicyTag["common"]) => ({
  vary: POLICY_VARY,
  ...requiredVersionHeader(document),
});

function unchangedOf(kept: Dependencies["unchanged"], tag: PolicyTag): UnchangedResponse {
  const known = kept.get(tag);
  if (known) return known;
  const etag = tagOf(tag);
  const fresh = prepareUnchanged(etag, { cacheControl: CACHE_CONTROL, others: othersOf(tag.common) });
  kept.set(tag, fresh);
  return fresh;
}

function preparedOf(prepared: Dependencies["prepared"], view: PolicyView): PreparedResponse {
  const known = prepared.get(view);
  if (known) return known;
  const response = prepareResponse(view.bytes, {
    etag: tagOf(view),
    contentType: "application/json",
    cacheControl: CACHE_CONTROL,
    others: othersOf(view.document),
  });
  prepared.set(view, response);
  return response;
}

/** The document has a token for this workstation that changes each time, so it is not cacheable and has no entity tag. */
async function respondToOne(
  delivery: Delivery,
  request: Request,
  { document }: PolicyView,
): Promise<Response> {
  const { userId, email, grantId, sid } = principalOf(request);
  if (grantId === null || sid === null) throw noToken();
  const workstation = { userId, grantId, loginSessionId: sid };
  const caller = { actor: actorOf(request), email, workstation };
  const personal = await delivery.withGateway(document, caller);
  return json(personal, { headers: { vary: POLICY_VARY, ...requiredVersionHeader(document) } });
}

/** Result by status. */
const RESULTS: Readonly<Record<number, string>> = {
  200: "sent",
  304: "unchanged",
  404: "no_policy",
  409: "key_needed",
  426: "client_too_old",
};
/** Other statuses below 500, such as 429 for too many invalid tokens, do not concern the policy. */
const REFUSED = "refused";
const FAILED = "failed";

/** Call it once. */
function registerMetrics(
  metrics: Registry,
  { identity, governance }: Pick<Domain, "identity" | "governance">,
): void {
  new Gauge({
    name: "quartermaster_policy_revision",
    help: "Sequence number of the current revision; 0 if there is none",
    registers: [metrics],
    collect() {
      const organization = identity.organization();
      this.set((organization && governance.revisions.current(organization.id)?.sequence) ?? 0);
    },
  });
  new Gauge({
    name: "quartermaster_policy_drafts",
    help: "Drafts of the policy; `stale` if somebody has published since the draft began",
    labelNames: ["state"],
    registers: [metrics],
    collect() {
      const organization = identity.organization();
      const drafts = organization ? governance.drafts.list(organization.id) : [];
      const current = organization && governance.revisions.current(organization.id)?.id;
      const stale = drafts.filter(({ baseRevision }) => baseRevision !== current).length;
      this.set({ state: "current" }, drafts.length - stale);
      this.set({ state: "stale" }, stale);
    },
  });
  new Counter({
    name: "quartermaster_policy_fetches_total",
    help: "Policy fetches by result",
    labelNames: ["result"],
    registers: [metrics],
    async collect() {
      const responses = await responsesByStatus(metrics, PATH);
      this.reset();
      for (const result of [...Object.values(RESULTS), REFUSED, FAILED]) this.inc({ result }, 0);
      for (const [status, count] of responses)
        this.inc({ result: RESULTS[status] ?? (status < 500 ? REFUSED : FAILED) }, count);
    },
  });
}
