// The rollout of a revision, in the API.
import { type Static, Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../../platform/clock.ts";
import { NOT_SEEN_DAYS, POINTS_MAX, REFUSALS_MAX, type Rollout } from "./rollout.ts";

const Count = Type.Integer({ minimum: 0 });
const health = { current: Count, outdated: Count, attention: Count };
const Time = Type.String({ format: "date-time" });
const Nullable = Type.Union([Type.String(), Type.Null()]);

export const RolloutView = Type.Object({
  revision: Type.String(),
  number: Type.Integer({ minimum: 1 }),
  published_at: Time,
  author: Type.String(),
  comment: Nullable,
  in_force: Type.Boolean(),
  workstations: Type.Object(health, {
    description: "current: follow this revision; attention: differ from their reported revision",
  }),
  not_seen_since: Type.Integer({ description: "Workstations without a report since it was published" }),
  asleep: Type.Array(Type.Object({ days: Type.Integer(), clients: Count }), {
    description: `Workstations without a report for more than ${NOT_SEEN_DAYS.join(", ")} days`,
  }),
  harnesses: Type.Array(Type.Object({ harness: Type.String(), ...health }), {
    description:
      "Workstations that have the harness. A workstation counts for each of its harnesses, whichever needs attention.",
  }),
  client_versions: Type.Array(Type.Object({ client_version: Type.String(), ...health }), {
    description: "Most frequent first",
  }),
  refusals: Type.Array(
    Type.Object({
      reason: Type.String(),
      clients: Count,
      example: Type.Object({ id: Type.String(), hostname: Nullable }),
    }),
    { description: `Workstations that refused it, the most frequent reason first, at most ${REFUSALS_MAX}` },
  ),
  more_refusals: Type.Integer({ description: "Number of further reasons" }),
  samples: Type.Array(Type.Object({ at: Time, ...health }), {
    description: `Counts since it was published, at most ${POINTS_MAX}`,
  }),
});

/** @returns the rollout with the most frequent client versions */
export const toRollout = (rollout: Rollout): Static<typeof RolloutView> => ({
  revision: rollout.revision.id,
  number: rollout.revision.sequence,
  published_at: toRfc3339(rollout.revision.createdAtMs),
  author: rollout.revision.authorLabel,
  comment: rollout.revision.comment,
  in_force: rollout.isInForce,
  workstations: { ...rollout.workstations },
  not_seen_since: rollout.notSeenSince,
  asleep: [...rollout.notSeenByDays],
  harnesses: [...rollout.harnesses].map(([harness, counts]) => ({ harness, ...counts })),
  client_versions: [...rollout.clientVersions].map(([client_version, counts]) => ({
    client_version,
    ...counts,
  })),
  refusals: rollout.refusals.map((refusal) => ({ ...refusal })),
  more_refusals: rollout.moreRefusals,
  samples: rollout.samples.map(({ sampledAtMs, ...counts }) => ({ at: toRfc3339(sampledAtMs), ...counts })),
});
