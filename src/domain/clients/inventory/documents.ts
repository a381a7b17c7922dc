// Workstations in the API and the commands: wire schemas and the functions that fill them.
import { type Static, Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../../platform/clock.ts";
import { FACET_USERS_MAX } from "../../shared/facet-users.ts";
import { pageEnvelope } from "../../shared/page.ts";
import { COUNTED_VERSIONS_MAX, STALE_AFTER_DAYS, SUMMARIES_COUNTED_MAX } from "../limits.ts";
import { ACTIVITIES, HEALTHS } from "../model.ts";
import type { HarnessVersions } from "./harness-versions.ts";
import type { ClientCounted, ClientSummary as ClientSummaryView, ClientView } from "./inventory.ts";

const nullableText = Type.Union([Type.String(), Type.Null()]);
const Time = Type.String({ format: "date-time" });
const Uuid = Type.String({ format: "uuid" });

/** One full record of the inventory, in the API. */
const AdminClientStatus = Type.Object({
  id: Uuid,
  user_email: Type.String(),
  instance_id: Type.String(),
  hostname: nullableText,
  client_version: Type.String(),
  platform: Type.String(),
  architecture: nullableText,
  config_revision: nullableText,
  applied: Type.Boolean(),
  files_ok: Type.Boolean(),
  harnesses: Type.Array(Type.Unknown(), { description: "As reported." }),
  packages: Type.Array(Type.Unknown(), { description: "As reported." }),
  error: nullableText,
  status: Type.Union(HEALTHS.map((health) => Type.Literal(health))),
  status_reasons: Type.Array(Type.String(), { description: "Sorted, distinct." }),
  first_seen_at: Time,
  last_seen_at: Time,
  activity_status: Type.Union(
    ACTIVITIES.map((activity) => Type.Literal(activity)),
    { description: `Stale from ${STALE_AFTER_DAYS} days without a report.` },
  ),
});
/** Members of every page in addition to those of the envelope. */
const PAGE_MEMBERS = {
  current_revision: nullableText,
  next_cursor: Type.Union([Type.String(), Type.Null()], {
    description: "`cursor` of the next page; null on the last",
  }),
};
export const AdminClientStatusPage = Type.Composite([
  pageEnvelope(AdminClientStatus),
  Type.Object({ ...PAGE_MEMBERS, next_cursor: Type.Optional(PAGE_MEMBERS.next_cursor) }),
]);

const Count = Type.Integer({ minimum: 0 });
const untilCounted = { description: "null until a report from an earlier release is counted" };

/** One record without the reported inventory. */
const ClientSummary = Type.Composite([
  Type.Omit(AdminClientStatus, ["harnesses", "packages", "error", "status_reasons"]),
  Type.Object({
    user_id: Uuid,
    harnesses: Type.Union([Type.Object({ wanted: Count, reconciled: Count }), Type.Null()], untilCounted),
    packages: Type.Union([Type.Object({ reported: Count, applied: Count }), Type.Null()], untilCounted),
  }),
]);
export const ClientSummaryPage = Type.Composite([
  pageEnvelope(ClientSummary),
  Type.Object({
    ...PAGE_MEMBERS,
    total_is_exact: Type.Boolean({
      description: `false: counting stopped at ${SUMMARIES_COUNTED_MAX}, or the total comes from an earlier page`,
    }),
  }),
]);

/** One record with the login that reported it. */
export const ClientDetail = Type.Composite([
  AdminClientStatus,
  Type.Object({
    user_id: Uuid,
    login_session_id: Type.String({ description: "the login that sent the last report" }),
    grant_id: Type.Union([Type.String(), Type.Null()]),
    current_revision: nullableText,
    companions: Type.Array(Type.Object({ id: Uuid, hostname: nullableText }), {
      description: "Other workstations of the user that the same sign-in approved",
    }),
  }),
]);

export const ClientCounts = Type.Object({
  health: Type.Optional(Type.Object(Object.fromEntries(HEALTHS.map((health) => [health, Count])))),
  harness_version: Type.Optional(
    Type.Object({
      items: Type.Array(
        Type.Object({
          harness: Type.String(),
          version: Type.Union([Type.String(), Type.Null()], {
            description: "As reported; null if unreadable",
          }),
          workstations: Count,
        }),
        { maxItems: COUNTED_VERSIONS_MAX },
      ),
      more: Type.Integer({ minimum: 0, description: "Number of rarer versions that are left out" }),
      uncounted: Type.Integer({
        minimum: 0,
        description: "Workstations whose report is from an earlier release and not counted yet",
      }),
    }),
  ),
});

export const ClientFacets = Type.Object({
  users: Type.Array(Type.Object({ id: Uuid, email: Type.String() }), { maxItems: FACET_USERS_MAX }),
  harnesses: Type.Array(Type.String(), { uniqueItems: true, description: "Sorted." }),
});

/** @returns the members of the last report in records and summaries */
const lastReport = (client: Pick<ClientView, keyof ClientView & keyof ClientSummaryView>) => ({
  user_email: client.userEmail,
  instance_id: client.instanceId,
  hostname: client.hostname,
  client_version: client.clientVersion,
  platform: client.platform,
  architecture: client.architecture,
  config_revision: client.configRevision,
  applied: client.applied,
  files_ok: client.filesOk,
});

/** @returns the record as the API and the commands show it */
export const toAdminClientStatus = (client: ClientView): Static<typeof AdminClientStatus> => ({
  id: client.id,
  ...lastReport(client),
  harnesses: [...client.harnesses],
  packages: [...client.packages],
  error: client.error,
  status: client.health,
  status_reasons: [...client.reasons],
  first_seen_at: toRfc3339(client.firstSeenAtMs),
  last_seen_at: toRfc3339(client.lastSeenAtMs),
  activity_status: client.activity,
});

/** @returns the record with its login, as the API and the commands show it */
export const toClientDocument = (client: ClientView) => ({
  ...toAdminClientStatus(client),
  user_id: client.userId,
  login_session_id: client.loginSessionId,
  grant_id: client.grantId,
});

export const toClientSummary = (client: ClientSummaryView): Static<typeof ClientSummary> => ({
  id: client.id,
  user_id: client.userId,
  ...lastReport(client),
  harnesses:
    client.harnessesWanted === null || client.harnessesReconciled === null
      ? null
      : { wanted: client.harnessesWanted, reconciled: client.harnessesReconciled },
  packages:
    client.packagesReported === null || client.packagesApplied === null
      ? null
      : { reported: client.packagesReported, applied: client.packagesApplied },
  status: client.health,
  first_seen_at: toRfc3339(client.firstSeenAtMs),
  last_seen_at: toRfc3339(client.lastSeenAtMs),
  activity_status: client.activity,
});

export const toClientCounts = ({ health, versions }: ClientCounted) => ({
  ...(health && { health }),
  ...(versions && { harness_version: toVersionCounts(versions) }),
});

const toVersionCounts = ({ versions, more, uncounted }: HarnessVersions) => ({
  items: versions.map(({ harness, version, clients }) => ({
    harness,
    version: version === "" ? null : version,
    workstations: clients,
  })),
  more,
  uncounted,
});
