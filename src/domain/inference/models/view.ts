// The model catalog in the API: every model that was listed or is assigned, and the assignments of allowed agents.
import { isDeepStrictEqual } from "node:util";
import { type Static, Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../../platform/clock.ts";
import { defaultModelOf, deliversModels, modelsOf, type Revision } from "../../governance/service.ts";
import { HARNESS_KEYS, type Harness, type HarnessKey } from "../../harnesses/harnesses.ts";
import {
  type AcknowledgedModel,
  isStale,
  isSupported,
  MODEL_STATES,
  type ModelRow,
  type SyncRow,
  stateOf,
} from "./model.ts";

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
const Time = Type.String({ format: "date-time" });
const HarnessName = Type.Union(HARNESS_KEYS.map((key) => Type.Literal(key)));

const Sync = Type.Object({
  last_refresh_at: nullable(Time),
  last_successful_refresh_at: nullable(Time),
  source_revision: nullable(Type.String(), "As the gateway gives it, else a digest of the ids"),
  latest_error: nullable(Type.String(), "Why the last refresh failed; null if it did not"),
  latest_error_at: nullable(Time),
  discovery_supported: nullable(Type.Boolean(), "Whether the provisioner can list models; null if unknown"),
  stale: Type.Boolean({ description: "Whether the last success is older than two intervals" }),
});

const Metadata = nullable(Type.Record(Type.String(), Type.Unknown()));

const Model = Type.Object({
  id: Type.String(),
  display_name: nullable(Type.String()),
  metadata: Metadata,
  fingerprint: nullable(Type.String(), "SHA-256 of id, name and metadata, for acknowledging a change"),
  state: Type.Union(
    MODEL_STATES.map((state) => Type.Literal(state)),
    {
      description:
        "available; changed: its name or metadata differ from the acknowledged ones; removed: no longer offered; unknown: assigned but never offered",
    },
  ),
  acknowledged: nullable(
    Type.Object({ display_name: nullable(Type.String()), metadata: Metadata }),
    "The acknowledged facts of a changed model; null for all others, and if they were not stored",
  ),
  assigned_to: Type.Array(HarnessName, { description: "Allowed agents whose list has the model" }),
  first_seen_at: nullable(Time),
  last_seen_at: nullable(Time),
  unavailable_since: nullable(Time),
});

const Assignment = Type.Object({
  key: HarnessName,
  label: Type.String(),
  exposure: Type.Union([Type.Literal("catalog"), Type.Literal("selected_only")], {
    description: "catalog: the agent shows every assigned model; selected_only: only the default reaches it",
  }),
  gateway_models: Type.Array(Type.String()),
  default_model: nullable(Type.String()),
});

export const ModelCatalogView = Type.Object({
  revision: Type.String({ description: "Policy in force" }),
  gateway_type: Type.String(),
  refresh_interval_seconds: Type.Integer(),
  assignments: Type.Union([Type.Literal("none"), Type.Literal("incomplete"), Type.Literal("delivered")], {
    description:
      "incomplete: an allowed agent has no models yet, so the lists are stored and workstations do not get them",
  }),
  sync: Sync,
  models: Type.Array(Model, { description: "By id" }),
  harnesses: Type.Array(Assignment, { description: "Allowed agents" }),
});
export type ModelCatalogView = Static<typeof ModelCatalogView>;
export type ModelView = ModelCatalogView["models"][number];

export interface Shown {
  /** a revision or a draft */
  revision: Pick<Revision, "id" | "document">;
  gatewayType: string;
  intervalSeconds: number;
  sync: SyncRow | undefined;
  rows: readonly ModelRow[];
  harnesses: readonly Harness[];
  nowMs: number;
}

export function toCatalogView(shown: Shown): ModelCatalogView {
  const { revision, gatewayType, intervalSeconds } = shown;
  return {
    revision: revision.id,
    gateway_type: gatewayType,
    refresh_interval_seconds: intervalSeconds,
    assignments: assignmentsOf(revision),
    sync: syncView(shown),
    models: modelViews(shown),
    harnesses: harnessViews(shown),
  };
}

/** @returns whether workstations get the lists; `incomplete` if some are missing */
export function assignmentsOf({ document }: Pick<Revision, "document">): ModelCatalogView["assignments"] {
  if (deliversModels(document)) return "delivered";
  const isAny = document.allowed_harnesses.some((key) => modelsOf(document.harnesses[key]).length > 0);
  return isAny ? "incomplete" : "none";
}

const syncView = ({ sync, nowMs, intervalSeconds }: Shown): ModelCatalogView["sync"] => ({
  last_refresh_at: timeOf(sync?.refreshedAtMs),
  last_successful_refresh_at: timeOf(sync?.succeededAtMs),
  source_revision: sync?.sourceRevision ?? null,
  latest_error: sync?.problem ?? null,
  latest_error_at: timeOf(sync?.problemAtMs),
  discovery_supported: isSupported(sync),
  stale: isStale(sync, { nowMs, intervalMs: intervalSeconds * 1_000 }),
});

function modelViews({ revision, rows, sync }: Shown): ModelView[] {
  const assignees = assigneesOf(revision);
  const known = new Set(rows.map(({ id }) => id));
  const unknown = [...assignees.keys()].filter((id) => !known.has(id));
  const views = rows.map((row) => modelView(row, { sync, assignees }));
  return [...views, ...unknown.map((id) => unknownView(id, assignees))].toSorted((one, other) =>
    one.id < other.id ? -1 : 1,
  );
}

type Assignees = ReadonlyMap<string, readonly HarnessKey[]>;

/** @returns the allowed agents of each assigned model, in the order of the policy */
function assigneesOf({ document }: Pick<Revision, "document">): Assignees {
  const assignees = new Map<string, HarnessKey[]>();
  for (const key of document.allowed_harnesses)
    for (const id of modelsOf(document.harnesses[key]))
      assignees.set(id, [...(assignees.get(id) ?? []), key]);
  return assignees;
}

const modelView = (
  row: ModelRow,
  { sync, assignees }: { sync: SyncRow | undefined; assignees: Assignees },
): ModelView => ({
  id: row.id,
  display_name: row.displayName,
  metadata: row.metadata === null ? null : JSON.parse(row.metadata),
  fingerprint: row.fingerprint,
  state: stateOf(row),
  acknowledged: stateOf(row) === "changed" && row.acknowledged !== null ? JSON.parse(row.acknowledged) : null,
  assigned_to: [...(assignees.get(row.id) ?? [])],
  first_seen_at: timeOf(row.firstSeenAtMs),
  last_seen_at: timeOf(
    row.unavailableSinceMs === null ? (sync?.succeededAtMs ?? row.lastSeenAtMs) : row.lastSeenAtMs,
  ),
  unavailable_since: timeOf(row.unavailableSinceMs),
});

const unknownView = (id: string, assignees: Assignees): ModelView => ({
  id,
  display_name: null,
  metadata: null,
  fingerprint: null,
  state: stateOf(undefined),
  acknowledged: null,
  assigned_to: [...(assignees.get(id) ?? [])],
  first_seen_at: null,
  last_seen_at: null,
  unavailable_since: null,
});

const harnessViews = ({ revision: { document }, harnesses }: Shown): ModelCatalogView["harnesses"] =>
  harnesses
    .filter(({ key }) => document.allowed_harnesses.includes(key))
    .map((harness) => assignmentView(harness, document));

/** @returns the assignment of one agent; its newest generation decides what it shows */
const assignmentView = (
  { key, label, generations }: Harness,
  document: Revision["document"],
): ModelCatalogView["harnesses"][number] => ({
  key,
  label,
  exposure: (generations.at(-1) ?? generations[0]).exposure,
  gateway_models: [...modelsOf(document.harnesses[key])],
  default_model: defaultModelOf(document.harnesses[key]) ?? null,
});

const timeOf = (ms: number | null | undefined): string | null => (ms == null ? null : toRfc3339(ms));

/** A figure of a model that differs from the acknowledged one; undefined on a side that lacks it. */
export interface ModelDifference {
  /** `name`, or `metadata.` and a member of it */
  figure: string;
  before: unknown;
  after: unknown;
}

/** @returns every figure that differs; none if the model is unchanged or the former figures were not stored */
export function modelDifferences({ acknowledged, display_name, metadata }: ModelView): ModelDifference[] {
  if (acknowledged === null) return [];
  const before = figuresOf(acknowledged);
  const after = figuresOf({ display_name, metadata });
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((figure) => ({ figure, before: before.get(figure), after: after.get(figure) }))
    .filter(({ before: one, after: other }) => !isDeepStrictEqual(one, other));
}

const figuresOf = ({ display_name, metadata }: AcknowledgedModel): ReadonlyMap<string, unknown> =>
  new Map([
    ["name", display_name ?? undefined],
    ...Object.entries(metadata ?? {}).map(([name, value]): [string, unknown] => [`metadata.${name}`, value]),
  ]);
