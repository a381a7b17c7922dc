// Shapes and limits of the policy document and its audiences (handbook: policy-file). The folder document/ checks content,
// publishing/ creates revisions, and delivery/ decides who gets what.
import { type Static, Type } from "@sinclair/typebox";
import { ManagedPackage } from "../catalog/service.ts";
import { HARNESS_KEYS, type HarnessKey } from "../harnesses/harnesses.ts";
import type { Origin } from "./wire.ts";

/** Maximum bytes of a document as JSON. */
export const DOCUMENT_BYTES_MAX = 2 * 1024 * 1024;
export const MCP_SERVERS_MAX = 128;
/** Maximum number of arguments of one MCP server, and of its variables. */
export const MCP_ARGUMENTS_MAX = 256;
/** Maximum characters of a command, an argument or a variable. */
export const MCP_TEXT_CHARACTERS_MAX = 32_768;
/** Maximum characters of a revision, a capability, a version, and an MCP server's name and transport. */
export const LABEL_CHARACTERS_MAX = 256;
/** Maximum characters of a text setting of a harness, such as the model. */
export const SETTING_CHARACTERS_MAX = 1_024;
export const URL_CHARACTERS_MAX = 2_048;
export const CAPABILITIES_MAX = 64;
/** Maximum number of entries of `harnesses` and of `allowed_harnesses`. */
export const HARNESSES_MAX = 64;
/** Maximum number of package overrides of one harness; equals the limit for packages. */
export const OVERRIDES_MAX = 5_000;
/** Maximum number of models assigned to one harness. */
export const GATEWAY_MODELS_MAX = 200;
export const TTL_SECONDS_MAX = 86_400;
export const AUDIENCE_USERS_MAX = 10_000;
/** Maximum number of groups in one audience; each may have any number of members. */
export const AUDIENCE_GROUPS_MAX = 100;
export const COMMENT_LENGTH_MAX = 500;
/** Maximum number of revisions in one list. */
export const REVISIONS_LISTED_MAX = 100;

export const McpServer = Type.Object({
  name: Type.String({ minLength: 1, description: "Unique per harness after trimming." }),
  command: Type.Optional(Type.String()),
  args: Type.Optional(Type.Array(Type.String())),
  env: Type.Optional(Type.Record(Type.String(), Type.String())),
  url: Type.Optional(Type.String({ description: "http or https." })),
  transport: Type.Optional(Type.String({ description: "Remote servers only." })),
  disabled: Type.Boolean({ default: false }),
});

const PackageOverride = Type.Object({
  enabled: Type.Optional(Type.Boolean({ description: "Absent means enabled." })),
  settings: Type.Record(Type.String(), Type.Unknown(), { default: {} }),
});

export const HarnessPolicy = Type.Object({
  version_requirement: Type.Optional(Type.String()),
  allow_unverified_versions: Type.Optional(Type.Literal(true, { description: "Omitted when false." })),
  managed_config: Type.Record(Type.String(), Type.Unknown(), { default: {} }),
  mcp: Type.Array(McpServer, { default: [] }),
  package_overrides: Type.Record(Type.String(), PackageOverride, { default: {} }),
  gateway_models: Type.Optional(
    Type.Array(Type.String(), {
      description:
        "Models of the gateway that the harness may use. Delivered only if every allowed harness has such a list.",
    }),
  ),
});

export const GatewayBlock = Type.Object(
  {
    type: Type.Literal("litellm"),
    proxy_url: Type.Optional(Type.String({ description: "Delivery only." })),
    token: Type.Optional(Type.String({ description: "Delivery only." })),
    auth_style: Type.Literal("bearer"),
  },
  { additionalProperties: false },
);

const HarnessName = Type.Union(HARNESS_KEYS.map((key) => Type.Literal(key)));
const perHarness = Object.fromEntries(HARNESS_KEYS.map((key) => [key, Type.Optional(HarnessPolicy)]));

/** A document as it is stored and delivered. */
export const GovernanceConfig = Type.Object({
  revision: Type.String(),
  contract_version: Type.Integer({ minimum: 1 }),
  required_capabilities: Type.Optional(Type.Array(Type.String(), { description: "Omitted when empty." })),
  minimum_client_version: Type.Optional(Type.String()),
  required_client_version: Type.Optional(Type.String({ description: "Exact canonical SemVer." })),
  ttl_seconds: Type.Optional(Type.Integer({ minimum: 0 })),
  required: Type.Boolean(),
  allowed_harnesses: Type.Array(HarnessName),
  harnesses: Type.Object(perHarness),
  packages: Type.Array(ManagedPackage),
  gateway: Type.Optional(GatewayBlock),
  session_upload: Type.Optional(Type.Object({ presign_url: Type.String() })),
  telemetry: Type.Optional(Type.Object({ sink_url: Type.String() })),
});

export type McpServer = Static<typeof McpServer>;
export type PackageOverride = Static<typeof PackageOverride>;
export type HarnessPolicy = Static<typeof HarnessPolicy>;
/** The policy for a harness that a document does not name. */
export const NO_POLICY: HarnessPolicy = { managed_config: {}, mcp: [], package_overrides: {} };
export type GatewayBlock = Static<typeof GatewayBlock>;
type Document = Static<typeof GovernanceConfig>;
export type GovernanceConfig = Omit<Document, "harnesses"> & {
  harnesses: { [Key in HarnessKey]?: HarnessPolicy };
};

export const PackageAudience = Type.Object({
  scope: Type.Union([Type.Literal("organization"), Type.Literal("users")]),
  user_ids: Type.Array(Type.String({ format: "uuid" }), { default: [] }),
  group_ids: Type.Optional(
    Type.Array(Type.String({ format: "uuid" }), {
      description: "Groups of the identity provider, whose members get the package too. Absent for none.",
    }),
  ),
});
export type PackageAudience = Static<typeof PackageAudience>;

/** By package id; a package without an entry is for the whole organization. */
export type PackageAudiences = Readonly<Record<string, PackageAudience>>;

/** One published revision. */
export interface Revision {
  /** order of publishing */
  sequence: number;
  id: string;
  organizationId: string;
  document: GovernanceConfig;
  audiences: PackageAudiences;
  origin: Origin;
  authorId: string | null;
  authorLabel: string;
  comment: string | null;
  /** short summary of its changes; null if an older version of the service published it */
  summary: string | null;
  createdAtMs: number;
}
