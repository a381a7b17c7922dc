// A draft in the API: schemas, and functions that fill them.
import { type Static, Type } from "@sinclair/typebox";
import { DAY_MS, toRfc3339 } from "../../../platform/clock.ts";
import { listAudiences } from "../delivery/audiences.ts";
import { COMMENT_LENGTH_MAX, GovernanceConfig, PackageAudience } from "../model.ts";
import { SentAudience, UpdateExtensions, UpdateHarnessManagedConfig } from "../reading/admin-view.ts";
import { DRAFT_DAYS_MAX, type Draft } from "./draft-model.ts";
import type { Review } from "./draft-publishing.ts";

const Time = Type.String({ format: "date-time" });
const ProblemView = Type.Object({
  pointer: Type.String(),
  detail: Type.String(),
  line: Type.Optional(Type.Integer({ minimum: 1 })),
  column: Type.Optional(Type.Integer({ minimum: 1, description: "Within the line, in UTF-16 units" })),
  text: Type.Optional(
    Type.String({
      description:
        "The text of the draft with the problem: `policy`, or the harness; line and column refer to it",
    }),
  ),
});
const Change = Type.Object({
  path: Type.String({ description: "An entry of a list is named by its id or name" }),
  order: Type.Optional(
    Type.Literal(true, { description: "Only the order of the list differs; the sides are names" }),
  ),
  before: Type.Optional(Type.Unknown()),
  after: Type.Optional(Type.Unknown()),
});

export const PolicyDraft = Type.Object({
  id: Type.String(),
  owner_id: Type.String(),
  version: Type.Integer({
    minimum: 0,
    description: "Grows with each save, also across drafts; 0 if nothing is saved yet",
  }),
  base_revision: Type.String({ description: "The base revision of the draft" }),
  current_revision: Type.String(),
  stale: Type.Boolean({ description: "Whether there is a newer revision, which must be merged first" }),
  shared: Type.Boolean({ description: "Whether other administrators may read and publish it" }),
  managed_yaml: Type.String({ description: "Without extensions, as it was typed" }),
  document: GovernanceConfig,
  package_audiences: Type.Record(Type.String(), PackageAudience),
  changes: Type.Array(Change, { description: "Compared with the base revision" }),
  problems: Type.Array(ProblemView, { description: "Problems that prevent the publication" }),
  warnings: Type.Array(ProblemView),
  comment_required_because: Type.Array(Type.String()),
  catalog_updates: Type.Array(Type.Object({ id: Type.String(), from: Type.String(), to: Type.String() }), {
    description: "Packages that the catalog has in another version; publishing does not take these",
  }),
  second_administrator_required: Type.Boolean(),
  saved_at: Time,
  expires_at: Time,
});

const { comment: _comment, base_revision: _base, ...extensions } = UpdateExtensions.properties;
const { comment: _why, base_revision: _from, ...settings } = UpdateHarnessManagedConfig.properties;
const Version = Type.Integer({ minimum: 0, description: "The version that the author has read; 0 for none" });

/** One change of one package, named by its only member besides the id. */
const SavePackage = Type.Object(
  {
    id: Type.String(),
    catalog: Type.Optional(Type.Literal(true, { description: "Take the version of the catalog" })),
    entry: Type.Optional(UpdateExtensions.properties.packages.items),
    remove: Type.Optional(Type.Literal(true)),
    audience: Type.Optional(SentAudience),
    use: Type.Optional(
      Type.Object(
        {
          harness: Type.String(),
          enabled: Type.Boolean(),
          settings: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
        },
        { additionalProperties: false, description: "How one harness uses it" },
      ),
    ),
  },
  { additionalProperties: false, description: "Exactly one member besides the id; everything else stays" },
);

/** One part of the draft, named by its only member besides the version. */
export const SavePolicyDraft = Type.Object(
  {
    version: Version,
    base_revision: Type.Optional(
      Type.String({
        description:
          "With version 0: the `base_revision` that the author has read, from which the draft begins; by default, the current one. If `managed_yaml` names another revision of this installation, the draft begins from that one",
      }),
    ),
    managed_yaml: Type.Optional(
      Type.String({ description: "Everything except extensions. A text with problems is kept as it is" }),
    ),
    harness: Type.Optional(
      Type.Object(
        {
          harness: Type.String(),
          allowed: Type.Optional(Type.Boolean({ description: "Unchanged if omitted" })),
          ...settings,
        },
        { additionalProperties: false },
      ),
    ),
    extensions: Type.Optional(Type.Object(extensions, { additionalProperties: false })),
    mcp: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.Unknown()), {
        description: "By harness, all of its MCP servers; harnesses that are omitted keep theirs",
      }),
    ),
    package: Type.Optional(SavePackage),
    models: Type.Optional(
      Type.Object(
        {
          harness: Type.String(),
          gateway_models: Type.Array(Type.String(), { description: "None removes the assignment" }),
          default_model: Type.Optional(
            Type.Union([Type.String(), Type.Null()], {
              description: "The model that the harness starts with; null for none. Unchanged if omitted",
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    revision: Type.Optional(
      Type.String({ description: "Take the content of this revision, including its audiences" }),
    ),
    deployment: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description:
          "Take the values of the configuration file at these places, where the policy differs from it",
      }),
    ),
    discard_text: Type.Optional(
      Type.String({
        description:
          "Discard the typed text of `policy` or of this harness; its last version without problems stays",
      }),
    ),
    shared: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

export const MergePolicyDraft = Type.Object(
  {
    version: Version,
    decisions: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.Literal("mine"), Type.Literal("theirs")]), {
        description: "Keyed by the path of a place that both changed",
      }),
    ),
    decided_on: Type.Optional(
      Type.String({
        description:
          "Id of the revision whose values the decisions are about: the `current_revision` of the last response. A place that was published differently since then is undecided again. By default, the current revision",
      }),
    ),
  },
  { additionalProperties: false },
);

export const MergedPolicyDraft = Type.Object({
  version: Type.Integer({ description: "Of the draft; unchanged while a place is undecided" }),
  base_revision: Type.String(),
  current_revision: Type.String({ description: "Id of the revision that the places were compared with" }),
  undecided: Type.Array(
    Type.Object({
      path: Type.String(),
      order: Type.Optional(
        Type.Literal(true, {
          description: "Only the order of the list is undecided; the values are the names of its entries",
        }),
      ),
      base: Type.Optional(Type.Unknown()),
      theirs: Type.Optional(Type.Unknown()),
      mine: Type.Optional(Type.Unknown()),
    }),
  ),
});

export const PublishPolicyDraft = Type.Object(
  {
    version: Version,
    draft: Type.Optional(Type.String({ description: "Id of a shared draft; by default, your own draft" })),
    comment: Type.Optional(Type.String({ description: `At most ${COMMENT_LENGTH_MAX} characters` })),
  },
  { additionalProperties: false },
);

export const PublishedPolicyDraft = Type.Object({
  revision: Type.String(),
  number: Type.Integer({ description: "Position in the order of publishing" }),
  published: Type.Boolean({ description: "False if the draft changed nothing" }),
});

type LongMember = "managed_yaml" | "document" | "changes";

/** @returns a PolicyDraft without the members that may have megabytes */
export const toPolicyDraft = (
  draft: Draft,
  review: Review,
): Omit<Static<typeof PolicyDraft>, LongMember> => ({
  id: draft.id,
  owner_id: draft.ownerId,
  version: draft.version,
  base_revision: draft.baseRevision,
  current_revision: review.current.id,
  stale: review.isStale,
  shared: draft.isShared,
  package_audiences: listAudiences(draft),
  problems: review.problems,
  warnings: review.warnings,
  comment_required_because: review.commentReasons,
  catalog_updates: review.catalogUpdates,
  second_administrator_required: review.needsOther,
  saved_at: toRfc3339(draft.savedAtMs),
  expires_at: toRfc3339(draft.savedAtMs + DRAFT_DAYS_MAX * DAY_MS),
});
