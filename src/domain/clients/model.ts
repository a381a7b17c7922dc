// Types and wire schemas of the inventory: what a workstation reports and what administrators read.
// Limits are in limits.ts, verdicts in verdict/verdict.ts, and the definition of health in inventory-store.ts.
import { type SchemaOptions, type Static, Type } from "@sinclair/typebox";
import { pageEnvelope } from "../shared/page.ts";
import {
  ENTRY_BYTES_MAX,
  ERROR_LENGTH_MAX,
  FACET_USERS_MAX,
  HARNESS_NAME_LENGTH_MAX,
  HARNESSES_MAX,
  HOSTNAME_LENGTH_MAX,
  INSTANCE_ID_LENGTH_MAX,
  INVENTORY_BYTES_MAX,
  PACKAGES_MAX,
  PLATFORM_LENGTH_MAX,
  REVISION_LENGTH_MAX,
  STALE_AFTER_DAYS,
  VERSION_LENGTH_MAX,
} from "./limits.ts";

/** How a report compares with the revision it names. */
export const VERDICTS = ["matches", "differs", "unknown"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The verdict combined with the current revision; inventory-store.ts defines it. */
export const HEALTHS = ["current", "outdated", "attention"] as const;
export type Health = (typeof HEALTHS)[number];

export const ACTIVITIES = ["recent", "stale"] as const;
export type Activity = (typeof ACTIVITIES)[number];

export const SORTS = ["last_seen_desc", "last_seen_asc"] as const;
export type Sort = (typeof SORTS)[number];

/** Accepts unknown members, so that newer clients can add some. */
const OPEN = { additionalProperties: true };

const nullable = (description: string) =>
  Type.Optional(Type.Union([Type.String(), Type.Null()], { description }));

/** Documented but not validated: inventories are stored as sent. */
const member = (schema: SchemaOptions) => Type.Optional(Type.Unknown(schema));
const textMember = member({ type: "string" });
const flagMember = member({ type: "boolean" });

export const HarnessInventoryEntry = Type.Object(
  {
    name: member({ type: "string", description: `At most ${HARNESS_NAME_LENGTH_MAX} characters.` }),
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

export const PackageStatus = Type.Object(
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

const entries = (max: number): string =>
  `At most ${max}, each of at most ${ENTRY_BYTES_MAX} bytes, ${INVENTORY_BYTES_MAX} in all.`;
const Harnesses = Type.Array(Type.Union([Type.String(), HarnessInventoryEntry]), {
  description: entries(HARNESSES_MAX),
});
const Packages = Type.Array(PackageStatus, { description: entries(PACKAGES_MAX) });

/** What a workstation sends. The schema checks types only; report.ts rejects blank, overlong and oversized values. */
export const ClientStatusReport = Type.Object(
  {
    instance_id: Type.String({
      description: `Stable per installation; not blank, at most ${INSTANCE_ID_LENGTH_MAX} characters.`,
    }),
    hostname: nullable(`At most ${HOSTNAME_LENGTH_MAX} characters.`),
    client_version: Type.String({ description: `Not blank, at most ${VERSION_LENGTH_MAX} characters.` }),
    platform: Type.String({
      description: `As in the keys of platform_sources; at most ${PLATFORM_LENGTH_MAX} characters.`,
    }),
    architecture: nullable(`For example aarch64 or x86_64; at most ${PLATFORM_LENGTH_MAX} characters.`),
    config_revision: nullable(`Revision applied last; at most ${REVISION_LENGTH_MAX} characters.`),
    applied: Type.Boolean(),
    files_ok: Type.Boolean(),
    harnesses: Type.Optional(Type.Union([Harnesses, Type.Null()])),
    packages: Type.Optional(Type.Union([Packages, Type.Null()])),
    reconciliation_attempt: Type.Optional(
      Type.Union([Type.Object({ harness: Type.String(), revision: Type.String() }, OPEN), Type.Null()], {
        description: "A reconciliation before launch that failed; needs an error.",
      }),
    ),
    error: nullable(
      `\`configuration is not current\` is not counted as a fault; at most ${ERROR_LENGTH_MAX} characters.`,
    ),
  },
  OPEN,
);
export type ClientStatusReport = Static<typeof ClientStatusReport>;

/** The user who reports, and the login used. */
export interface Reporter {
  userId: string;
  organizationId: string;
  /** the browser sign-in that the token was issued from */
  loginSessionId: string;
  /** null for a browser */
  grantId: string | null;
}

/** A failed reconciliation before launch. */
export interface Attempt {
  harness: string;
  revision: string;
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

export interface Judgment {
  verdict: Verdict;
  /** sorted and distinct; at most REASONS_MAX, plus one that counts the rest */
  reasons: readonly string[];
}

const nullableText = Type.Union([Type.String(), Type.Null()]);
const Time = Type.String({ format: "date-time" });
const Uuid = Type.String({ format: "uuid" });

/** One record of the inventory, on the wire. */
export const AdminClientStatus = Type.Object({
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
export const AdminClientStatusPage = Type.Composite([
  pageEnvelope(AdminClientStatus),
  Type.Object({ current_revision: nullableText }),
]);

export const ClientFacets = Type.Object({
  users: Type.Array(Type.Object({ id: Uuid, email: Type.String() }), { maxItems: FACET_USERS_MAX }),
  harnesses: Type.Array(Type.String(), { uniqueItems: true, description: "Sorted." }),
});
export type ClientFacets = Static<typeof ClientFacets>;
