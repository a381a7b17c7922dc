// The policy in the API for administrators: schemas, and functions that fill them. It is never personalized; to clients the
// command line and the dashboard are one author.
import { type Static, Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../../platform/clock.ts";
import { yamlText } from "../../../platform/text/yaml-write.ts";
import { PACKAGES_MAX } from "../../catalog/service.ts";
import { HARNESS_KEYS, type HarnessKey } from "../../harnesses/harnesses.ts";
import { sourceWarningsOf } from "../delivery/artifacts.ts";
import { listAudiences } from "../delivery/audiences.ts";
import { uploadWarningsOf } from "../delivery/upload-address.ts";
import { documentYaml, managedYaml } from "../document/yaml.ts";
import { COMMENT_LENGTH_MAX, GovernanceConfig, PackageAudience, type Revision } from "../model.ts";
import type { RevisionSummary } from "../store.ts";

const WIRE_ORIGINS = ["bootstrap", "deployment", "dashboard"] as const;
const Time = Type.String({ format: "date-time" });
const Nullable = Type.Union([Type.String(), Type.Null()]);
const perHarness = <
  T extends typeof Nullable | ReturnType<typeof Type.Boolean> | ReturnType<typeof Type.String>,
>(
  value: T,
) => Type.Record(Type.String(), value);

const Problem = Type.Object({ pointer: Type.String(), detail: Type.String() });

export const AdminConfig = Type.Object({
  revision: Type.String(),
  yaml: Type.String({ description: "The whole document" }),
  managed_yaml: Type.String({ description: "Without extensions: the text to edit and send back" }),
  document: GovernanceConfig,
  package_audiences: Type.Record(Type.String(), PackageAudience),
  deployment_conflicts: Type.Array(Type.String(), {
    description:
      "Places where the deployment file has a different value; an entry of a list is named by its id or name",
  }),
  warnings: Type.Array(Problem, {
    description: "Reasons why workstations may fail to fetch an archive or upload captured sessions",
  }),
  created_at: Time,
});

export const HarnessManagedConfig = Type.Object({
  revision: Type.String(),
  harness: Type.Union(HARNESS_KEYS.map((key) => Type.Literal(key))),
  managed_config_yaml: Type.String(),
  version_requirement: Nullable,
  allow_unverified_versions: Type.Boolean(),
});

export const HarnessManagedConfigs = Type.Object({
  revision: Type.String(),
  configurations: perHarness(Type.String()),
  version_requirements: perHarness(Nullable),
  allow_unverified_versions: perHarness(Type.Boolean()),
});

export const GovernanceRevision = Type.Object({
  revision: Type.String(),
  created_at: Time,
  created_by_email: Type.Union([Type.String(), Type.Null()], { description: "Null if no user published it" }),
  origin: Type.Union(WIRE_ORIGINS.map((origin) => Type.Literal(origin))),
  comment: Nullable,
  summary: Type.Union([Type.String(), Type.Null()], {
    description:
      "What the revision changed, in a few words; null if an older version of the service published it",
  }),
});

export const DeploymentConfigExport = Type.Object({
  yaml: Type.String(),
  redactions: Type.Array(Type.Object({ path: Type.String(), environment_variable: Type.String() })),
});

const publication = {
  base_revision: Type.Optional(
    Type.String({
      description: "The revision that the author started from; may be omitted if If-Match is sent",
    }),
  ),
  comment: Type.Optional(Type.String({ description: `At most ${COMMENT_LENGTH_MAX} characters` })),
};

export const UpdateAdminConfig = Type.Object(
  { ...publication, managed_yaml: Type.String() },
  { additionalProperties: false },
);

/** An audience in a request. */
export const SentAudience = Type.Object(
  {
    scope: PackageAudience.properties.scope,
    user_ids: Type.Optional(PackageAudience.properties.user_ids),
    group_ids: Type.Optional(
      Type.Array(Type.String({ format: "uuid" }), {
        description:
          "Groups of the identity provider. If omitted, the current groups stay; scope users needs a user or a group",
      }),
    ),
  },
  { additionalProperties: false },
);

/** The domain checks packages, overrides and servers, and reports every problem. */
export const UpdateExtensions = Type.Object(
  {
    ...publication,
    packages: Type.Array(Type.Unknown({ description: "ManagedPackage" }), { maxItems: PACKAGES_MAX }),
    package_audiences: Type.Optional(Type.Record(Type.String(), SentAudience)),
    package_overrides: Type.Optional(
      Type.Record(Type.String(), Type.Unknown({ description: "By harness: package id to override" })),
    ),
    mcp: Type.Optional(Type.Record(Type.String(), Type.Unknown({ description: "By harness: MCP servers" }))),
  },
  { additionalProperties: false },
);

export const UpdateHarnessManagedConfig = Type.Object(
  {
    ...publication,
    managed_config_yaml: Type.String(),
    version_requirement: Type.Optional(Nullable),
    allow_unverified_versions: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

/** A revision as texts, which are cheap to copy to a thread. */
export interface RevisionText {
  id: string;
  createdAtMs: number;
  /** a GovernanceConfig as JSON */
  document: string;
  /** PackageAudiences as JSON */
  audiences: string;
}

type Shown = Pick<Revision, "id" | "createdAtMs" | "document" | "audiences">;

export const revisionText = ({ id, createdAtMs, document, audiences }: Shown): RevisionText => ({
  id,
  createdAtMs,
  document: JSON.stringify(document),
  audiences: JSON.stringify(audiences),
});

const revisionOf = ({ document, audiences, ...rest }: RevisionText): Shown => ({
  ...rest,
  document: JSON.parse(document),
  audiences: JSON.parse(audiences),
});

/** JSON in the form that is sent. */
export type JsonBytes = Uint8Array<ArrayBuffer>;

export const jsonBytes = (value: unknown): JsonBytes => new TextEncoder().encode(JSON.stringify(value));

/** @returns an AdminConfig as JSON */
export const adminConfigBytes = ({
  conflicts,
  presignUrl,
  ...revision
}: RevisionText & AdminExtras): JsonBytes =>
  jsonBytes(toAdminConfig(revisionOf(revision), { conflicts, presignUrl }));

/** @param document a GovernanceConfig as JSON @returns the text to edit, without extensions, as YAML */
export const managedText = ({ document }: Pick<RevisionText, "document">): string =>
  managedYaml(JSON.parse(document));

/** @param document a GovernanceConfig as JSON @returns the whole document as YAML */
export const wholeText = ({ document }: Pick<RevisionText, "document">): string =>
  documentYaml(JSON.parse(document));

/** @returns a HarnessManagedConfig as JSON */
export const harnessConfigBytes = ({
  harness,
  ...revision
}: RevisionText & { harness: HarnessKey }): JsonBytes =>
  jsonBytes(toHarnessConfig(revisionOf(revision), harness));

/** @returns HarnessManagedConfigs as JSON */
export const harnessConfigsBytes = (revision: RevisionText): JsonBytes =>
  jsonBytes(toHarnessConfigs(revisionOf(revision)));

/** Facts about a revision that administrators see in addition to its content. */
export interface AdminExtras {
  /** places where the deployment file differs, as a JSON array */
  conflicts: string;
  /** the URL that `session_upload` should name, if known */
  presignUrl: string | undefined;
}

export const toAdminConfig = (
  revision: Shown,
  { conflicts, presignUrl }: AdminExtras,
): Static<typeof AdminConfig> => ({
  revision: revision.id,
  yaml: documentYaml(revision.document),
  managed_yaml: managedYaml(revision.document),
  document: revision.document,
  package_audiences: listAudiences(revision),
  deployment_conflicts: JSON.parse(conflicts),
  warnings: [...sourceWarningsOf(revision.document), ...uploadWarningsOf(revision.document, presignUrl)],
  created_at: toRfc3339(revision.createdAtMs),
});

/** A harness without a policy has empty settings. */
const toHarnessConfig = (
  { id, document }: Pick<Shown, "id" | "document">,
  harness: HarnessKey,
): Static<typeof HarnessManagedConfig> => {
  const {
    managed_config = {},
    version_requirement,
    allow_unverified_versions,
  } = document.harnesses[harness] ?? {};
  return {
    revision: id,
    harness,
    managed_config_yaml: yamlText(managed_config),
    version_requirement: version_requirement ?? null,
    allow_unverified_versions: allow_unverified_versions ?? false,
  };
};

/** @returns every supported harness in each of the three maps */
function toHarnessConfigs(revision: Pick<Shown, "id" | "document">): Static<typeof HarnessManagedConfigs> {
  const each = HARNESS_KEYS.map((key) => [key, toHarnessConfig(revision, key)] as const);
  const mapOf = <T>(pick: (config: Static<typeof HarnessManagedConfig>) => T): Record<string, T> =>
    Object.fromEntries(each.map(([key, config]) => [key, pick(config)]));
  return {
    revision: revision.id,
    configurations: mapOf((config) => config.managed_config_yaml),
    version_requirements: mapOf((config) => config.version_requirement),
    allow_unverified_versions: mapOf((config) => config.allow_unverified_versions),
  };
}

/** @returns one row of the list of revisions */
export const toGovernanceRevision = (revision: RevisionSummary): Static<typeof GovernanceRevision> => ({
  revision: revision.id,
  created_at: toRfc3339(revision.createdAtMs),
  created_by_email: revision.authorId === null ? null : revision.authorLabel,
  origin: revision.origin === "operator" ? "dashboard" : revision.origin,
  comment: revision.comment,
  summary: revision.summary,
});
