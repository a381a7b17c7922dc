// The plan of an import, as the API returns it.
import { type Static, Type } from "@sinclair/typebox";
import type { ImportPlan } from "./bundles.ts";

const Version = Type.Object({ id: Type.String(), version: Type.String(), sha256: Type.String() });

export const ImportPlanView = Type.Object({
  dry_run: Type.Boolean({ description: "true: nothing was changed" }),
  signer: Type.String({ description: "Id of the key that signed the bundle." }),
  exported_at: Type.String({ description: "RFC 3339" }),
  archives: Type.Object({ count: Type.Integer(), new: Type.Integer(), size_bytes: Type.Integer() }),
  added: Type.Array(Version),
  changed: Type.Array(Type.Object({ from: Version, to: Version })),
  removed: Type.Array(Version),
  moved: Type.Integer(),
  unchanged: Type.Integer(),
  blocked: Type.Array(Type.Intersect([Version, Type.Object({ revision: Type.Integer() })]), {
    description: "Removals that the current policy forbids; they prevent the whole import.",
  }),
  fetches: Type.Array(Type.Object({ id: Type.String(), path: Type.String(), what: Type.String() })),
  warnings: Type.Array(Type.String()),
});

/** @param isDryRun whether nothing was changed */
export const toImportPlanView = (
  { exportedAt, archives: { count, new: fresh, sizeBytes }, ...plan }: ImportPlan,
  isDryRun: boolean,
): Static<typeof ImportPlanView> => ({
  dry_run: isDryRun,
  signer: plan.signer,
  exported_at: exportedAt,
  archives: { count, new: fresh, size_bytes: sizeBytes },
  added: plan.added,
  changed: plan.changed,
  removed: plan.removed,
  moved: plan.moved,
  unchanged: plan.unchanged,
  blocked: plan.blocked,
  fetches: plan.fetches,
  warnings: plan.warnings,
});
