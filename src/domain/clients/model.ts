// Types of the inventory, and the wire schema of a workstation's report. inventory/documents.ts has the schemas for
// administrators, limits.ts the limits, verdict/verdict.ts the verdicts, and inventory/list-store.ts the definition of health.
import { type SchemaOptions, type Static, Type } from "@sinclair/typebox";
import {
  ENTRY_BYTES_MAX,
  ERROR_LENGTH_MAX,
  HARNESS_NAME_LENGTH_MAX,
  HARNESSES_MAX,
  HOSTNAME_LENGTH_MAX,
  INSTANCE_ID_LENGTH_MAX,
  INVENTORY_BYTES_MAX,
  PACKAGES_MAX,
  PLATFORM_LENGTH_MAX,
  REVISION_LENGTH_MAX,
  VERSION_LENGTH_MAX,
} from "./limits.ts";

/** How a report compares with the revision it names. */
const VERDICTS = ["matches", "differs", "unknown"] as const;
type Verdict = (typeof VERDICTS)[number];

/** The verdict combined with the current revision; inventory/list-store.ts defines it. */
export const HEALTHS = ["current", "outdated", "attention"] as const;
export type Health = (typeof HEALTHS)[number];

export const ACTIVITIES = ["recent", "stale"] as const;
export type Activity = (typeof ACTIVITIES)[number];

export const SORTS = [
  "last_seen_desc",
  "last_seen_asc",
  "host_asc",
  "host_desc",
  "user_asc",
  "user_desc",
  "version_asc",
  "version_desc",
] as const;
export type Sort = (typeof SORTS)[number];

/** The facts about each client in a list. */
export const VIEWS = ["full", "summary"] as const;

/** The keys by which clients are counted. */
export const COUNT_KINDS = ["health", "harness_version"] as const;
export type CountKind = (typeof COUNT_KINDS)[number];

/** Accepts unknown members, so that newer clients can add some. */
const OPEN = { additionalProperties: true };

const nullable = (maxLength: number, description?: string) =>
  Type.Optional(
    Type.Union([Type.String({ maxLength }), Type.Null()], description === undefined ? {} : { description }),
  );

/** Documented but not validated, because inventories are stored as sent. */
const member = (schema: SchemaOptions) => Type.Optional(Type.Unknown(schema));
const textMember = member({ type: "string" });
const flagMember = member({ type: "boolean" });

const HarnessInventoryEntry = Type.Object(
  {
    name: Type.Optional(
      Type.Union([Type.String({ maxLength: HARNESS_NAME_LENGTH_MAX }), Type.Not(Type.String())], {
        description: "Stored as sent even if it is not a string.",
      }),
    ),
    api_allowed: flagMember,
    client_supported: flagMember,
    installed: flagMember,
    path: textMember,
    raw_version: textMember,
    version: textMember,
    compatibility_profile: textMember,
    compatibility_deprecated: flagMember,
    compatibility_error: textMember,
    compatibility_warning: textMember,
    reconciled: flagMember,
  },
  OPEN,
);

const PackageStatus = Type.Object(
  {
    id: textMember,
    version: textMember,
    sha256: textMember,
    harness: textMember,
    state: member({ type: "string", description: "Only `applied` means healthy." }),
    error: member({ type: ["string", "null"] }),
  },
  OPEN,
);

const SIZE = `Each entry has at most ${ENTRY_BYTES_MAX} bytes, the list ${INVENTORY_BYTES_MAX}.`;
const Harnesses = Type.Array(
  Type.Union([Type.String({ maxLength: HARNESS_NAME_LENGTH_MAX }), HarnessInventoryEntry]),
  { maxItems: HARNESSES_MAX, description: SIZE },
);
const Packages = Type.Array(PackageStatus, { maxItems: PACKAGES_MAX, description: SIZE });
/** A failed reconciliation before launch. */
const Attempt = Type.Object(
  {
    harness: Type.String({ maxLength: HARNESS_NAME_LENGTH_MAX, description: "Not blank." }),
    revision: Type.String({ maxLength: REVISION_LENGTH_MAX, description: "Not blank." }),
  },
  OPEN,
);

/** The body of a workstation's report. report.ts rejects blank texts and lists of too many bytes. */
export const ClientStatusReport = Type.Object(
  {
    instance_id: Type.String({
      maxLength: INSTANCE_ID_LENGTH_MAX,
      description: "Stable per installation; not blank.",
    }),
    hostname: nullable(HOSTNAME_LENGTH_MAX),
    client_version: Type.String({ maxLength: VERSION_LENGTH_MAX, description: "Not blank." }),
    platform: Type.String({
      maxLength: PLATFORM_LENGTH_MAX,
      description: "As in the keys of platform_sources.",
    }),
    architecture: nullable(PLATFORM_LENGTH_MAX, "For example aarch64 or x86_64."),
    config_revision: nullable(REVISION_LENGTH_MAX, "Revision applied last."),
    applied: Type.Boolean(),
    files_ok: Type.Boolean(),
    harnesses: Type.Optional(Type.Union([Harnesses, Type.Null()])),
    packages: Type.Optional(Type.Union([Packages, Type.Null()])),
    reconciliation_attempt: Type.Optional(
      Type.Union([Attempt, Type.Null()], {
        description: "A failed reconciliation before launch; needs an error.",
      }),
    ),
    error: nullable(ERROR_LENGTH_MAX, "`configuration is not current` does not count as an error."),
  },
  OPEN,
);
export type ClientStatusReport = Static<typeof ClientStatusReport>;
export type Attempt = Static<typeof Attempt>;

/** The user who reports, and the login used. */
export interface Reporter {
  userId: string;
  organizationId: string;
  /** the browser sign-in behind the token */
  loginSessionId: string;
  /** null for a browser */
  grantId: string | null;
}

/** The parts of a report that determine its verdict. */
export interface Reported {
  userId: string;
  organizationId: string;
  platform: string;
  architecture: string | null;
  configRevision: string | null;
  applied: boolean;
  filesOk: boolean;
  error: string | null;
  attempt: Attempt | null;
  /** names, or objects as sent */
  harnesses: readonly unknown[];
  packages: readonly unknown[];
}

export interface Evaluation {
  verdict: Verdict;
  /** sorted and distinct; at most REASONS_MAX, plus one that counts the rest */
  reasons: readonly string[];
}
