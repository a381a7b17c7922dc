// The package in every API response, and the limits of a package list. Only shapes and numbers: package-rules.ts and layouts.ts
// have the rules that involve several members.

import { type Static, Type } from "@sinclair/typebox";

export const CATALOG_FILE_BYTES_MAX = 8_388_608;
/** Limit for YAML tokens: about three times as many as PACKAGES_MAX ordinary packages have; reading them takes a few seconds. */
export const CATALOG_TOKENS_MAX = 3_000_000;
export const PACKAGES_MAX = 5_000;
export const ID_CHARACTERS_MAX = 128;
/** Maximum characters of name, version and version bounds. */
export const LABEL_CHARACTERS_MAX = 256;
export const SOURCE_REF_CHARACTERS_MAX = 2_048;
/** Maximum bytes of a path inside an archive, as in workstation clients. */
export const PATH_BYTES_MAX = 4_096;
export const PATH_COMPONENTS_MAX = 32;
export const PLATFORMS_MAX = 32;
export const VARIANTS_MAX = 32;
export const PLUGINS_MAX = 64;
export const HELPERS_MAX = 64;

export const ID_PATTERN = /^[a-z0-9-]+$/;
export const PLATFORM_PATTERN = /^[a-z0-9_-]+$/;
export const SHA256_PATTERN = /^[A-Fa-f0-9]{64}$/;

const Sha256 = Type.String({
  pattern: SHA256_PATTERN.source,
  description: "Always lower case in responses.",
});
const ArtifactId = Type.String({
  format: "uuid",
  description: "Mirrored archive of the same organization with the same digest.",
});

export const PlatformAsset = Type.Object({
  paths: Type.Record(Type.String(), Type.String(), {
    default: {},
    description: "Archive paths keyed `<os>-<arch>`, with an optional `default`.",
  }),
});

const layoutMembers = {
  plugin_dir: Type.Optional(Type.String()),
  skills_dir: Type.Optional(Type.String({ description: "One skill folder or a folder of skill folders." })),
  agents_dir: Type.Optional(Type.String()),
  hooks_file: Type.Optional(Type.String()),
  plugins: Type.Array(Type.String(), { default: [], description: "Plugin modules." }),
  helpers: Type.Record(Type.String(), PlatformAsset, {
    default: {},
    description: "Executables, keyed by the name of the command.",
  }),
};

/** Where each component is in the archive; paths are relative to its root. */
export const PackageLayout = Type.Object(layoutMembers);

export const PackageAdapterVariant = Type.Object({
  introduced: Type.String({ description: "Inclusive lower bound (SemVer)." }),
  before: Type.Optional(
    Type.String({ description: "Exclusive upper bound (SemVer); open-ended when absent." }),
  ),
  ...layoutMembers,
});

export const PackageAdapter = Type.Object({
  introduced: Type.Optional(
    Type.String({ description: "Inclusive lower bound (SemVer); 0.0.0 when absent." }),
  ),
  before: Type.Optional(Type.String({ description: "Exclusive upper bound (SemVer)." })),
  ...layoutMembers,
  variants: Type.Optional(Type.Array(PackageAdapterVariant, { description: "Omitted when empty." })),
});

export const PackageSource = Type.Object({
  source_ref: Type.String(),
  artifact_id: Type.Optional(ArtifactId),
  sha256: Sha256,
});

/** One entry of the catalog (handbook: catalog-file, Members). */
export const ManagedPackage = Type.Object({
  id: Type.String({ pattern: ID_PATTERN.source }),
  name: Type.Optional(Type.String()),
  version: Type.String({ minLength: 1, description: "Free text, not blank." }),
  source_ref: Type.String({
    description: "https:// URL, file:// URL or a path without a scheme; anything when artifact_id is set.",
  }),
  artifact_id: Type.Optional(ArtifactId),
  sha256: Sha256,
  platform_sources: Type.Optional(
    Type.Record(Type.String({ pattern: PLATFORM_PATTERN.source }), PackageSource, {
      description: "Keyed `<os>-<arch>`; when present, clients need an exact match and ignore source_ref.",
    }),
  ),
  settings: Type.Record(Type.String(), Type.Unknown(), { default: {} }),
  adapters: Type.Object(
    {
      codex: Type.Optional(PackageAdapter),
      claude: Type.Optional(PackageAdapter),
      kimi: Type.Optional(PackageAdapter),
      opencode: Type.Optional(PackageAdapter),
    },
    { default: {} },
  ),
});

export type PlatformAsset = Static<typeof PlatformAsset>;
export type PackageLayout = Static<typeof PackageLayout>;
export type PackageAdapterVariant = Static<typeof PackageAdapterVariant>;
export type PackageAdapter = Static<typeof PackageAdapter>;
export type PackageSource = Static<typeof PackageSource>;
export type ManagedPackage = Static<typeof ManagedPackage>;
