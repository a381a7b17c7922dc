// The upper bounds of what a workstation may report, and of how long it is remembered. What is over one is refused whole:
// half a report would get a wrong verdict. Enforced by report.ts and told by the schema in model.ts.

/** Characters of each; far above anything real, since a refused report makes a workstation invisible. */
export const INSTANCE_ID_LENGTH_MAX = 128;
export const HOSTNAME_LENGTH_MAX = 255;
export const VERSION_LENGTH_MAX = 128;
export const PLATFORM_LENGTH_MAX = 64;
export const REVISION_LENGTH_MAX = 128;
export const HARNESS_NAME_LENGTH_MAX = 128;
export const ERROR_LENGTH_MAX = 16_384;

export const HARNESSES_MAX = 32;
export const PACKAGES_MAX = 2_000;
/** Bytes of one harness or package as JSON. */
export const ENTRY_BYTES_MAX = 16_384;
/** Bytes of each of the two lists as JSON. */
export const INVENTORY_BYTES_MAX = 262_144;

/** Kept with a verdict; what is over it is counted in one last sentence. */
export const REASONS_MAX = 100;
/** A longer reason is cut. */
export const REASON_LENGTH_MAX = 1_000;

/** Records of one user: an installation that is new in every container takes the place of the one not seen longest. */
export const CLIENTS_PER_USER_MAX = 256;
/** Without a report for so many days a client counts as stale (control-api.md section 10.3). */
export const STALE_AFTER_DAYS = 30;

/** Harness names that the facets show. */
export const FACET_HARNESSES_MAX = 1_000;
export const FACET_USERS_MAX = 10;
/** Clients of one name that an answer lists. */
export const REFERENCE_MATCHES_MAX = 10;
/** Records that a job or a mass operation handles in one transaction. */
export const BATCH_ROWS = 100;
