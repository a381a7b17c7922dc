// The overview in the format of the API.
import { Type } from "@sinclair/typebox";
import { AuditEntry, namedDocument } from "../../domain/audit/reading/entry-document.ts";
import { toRfc3339 } from "../../platform/clock.ts";
import type { OverviewView } from "./overview.ts";

const Count = Type.Integer({ minimum: 0 });
const Time = Type.String({ format: "date-time" });
const orNull = <T extends ReturnType<typeof Type.String>>(schema: T) => Type.Union([schema, Type.Null()]);

export const OverviewDocument = Type.Object({
  checked_at: Type.Union([Time, Type.Null()], {
    description: "when the checks of doctor ran; null while they run",
  }),
  problems: Type.Array(
    Type.Object({
      result: Type.Union([Type.Literal("failed"), Type.Literal("warning")]),
      source: Type.String({ description: "Name of the check, or deployment, refusals, invitations, doctor" }),
      detail: Type.String(),
      remedy: orNull(Type.String()),
    }),
    { description: "failures first" },
  ),
  workstations: Type.Object({
    total: Count,
    current: Count,
    outdated: Count,
    attention: Count,
    on_newest_revision: Count,
  }),
  users: Type.Object({ active: Count, suspended: Count, removed: Count }),
  keys: Type.Union([Type.Record(Type.String(), Count), Type.Null()], {
    description: "gateway keys by state; null while gateway mode is off",
  }),
  revisions: Type.Array(
    Type.Object({
      id: Type.String(),
      sequence: Count,
      author: Type.String(),
      comment: orNull(Type.String()),
      created_at: Time,
    }),
    { description: "the newest ones, the one in force first" },
  ),
  audit: Type.Array(AuditEntry, { description: "the newest entries" }),
});

/** @returns the body of `GET /admin/overview` */
export const overviewDocument = (view: OverviewView) => ({
  checked_at: view.checkedAtMs === undefined ? null : toRfc3339(view.checkedAtMs),
  problems: view.problems.map(({ result, source, detail, remedy }) => ({ result, source, detail, remedy })),
  workstations: {
    total: view.fleet.total,
    current: view.fleet.current,
    outdated: view.fleet.outdated,
    attention: view.fleet.attention,
    on_newest_revision: view.fleet.onNewest,
  },
  users: view.users,
  keys: view.keys ? Object.fromEntries(view.keys.map(({ state, total }) => [state, total])) : null,
  revisions: view.revisions.map(({ id, sequence, authorLabel, comment, createdAtMs }) => ({
    id,
    sequence,
    author: authorLabel,
    comment,
    created_at: toRfc3339(createdAtMs),
  })),
  audit: view.entries.map(namedDocument),
});
