// Limits on what a workstation may report and on how long a client is kept. A report that exceeds a limit is rejected as a
// whole, because a truncated report would get a wrong verdict. The schema in model.ts enforces lengths and counts, report.ts bytes.

/** Maximum characters. Far above any real value, because a workstation with rejected reports is missing from the inventory. */
export const INSTANCE_ID_LENGTH_MAX = 128;
export const HOSTNAME_LENGTH_MAX = 255;
export const VERSION_LENGTH_MAX = 128;
export const PLATFORM_LENGTH_MAX = 64;
export const REVISION_LENGTH_MAX = 128;
export const HARNESS_NAME_LENGTH_MAX = 128;
export const ERROR_LENGTH_MAX = 16_384;

export const HARNESSES_MAX = 32;
export const PACKAGES_MAX = 2_000;
/** Maximum bytes of one harness or package as JSON. */
export const ENTRY_BYTES_MAX = 16_384;
/** Maximum bytes of each of the two lists as JSON. */
export const INVENTORY_BYTES_MAX = 262_144;

/** Maximum number of reasons stored with a verdict. One extra reason counts the rest. */
export const REASONS_MAX = 100;
/** Maximum characters; longer reasons are truncated. */
export const REASON_LENGTH_MAX = 1_000;

/**
 * Maximum number of records of one user. Containers may report a new installation id each time, so the least recently seen
 * record is dropped.
 */
export const CLIENTS_PER_USER_MAX = 256;
/** A client without a report for this many days is stale. */
export const STALE_AFTER_DAYS = 30;

/** The longest time without a report that a filter accepts, in days. */
export const NOT_SEEN_DAYS_MAX = 99_999;

/** Maximum number of harness names in the facets. */
export const FACET_HARNESSES_MAX = 1_000;
/** Maximum number of clients to list when a name is ambiguous. */
export const REFERENCE_MATCHES_MAX = 10;
/** Number of records that a job or a bulk operation handles in one transaction. */
export const BATCH_ROWS = 100;

/** Maximum characters of a harness version; longer ones count as unreadable. */
export const COUNTED_VERSION_LENGTH_MAX = 64;
/** Maximum number of harness versions in the counts; the others are counted together. */
export const COUNTED_VERSIONS_MAX = 1_000;
/** Number of matching records at which a list of summaries stops counting. */
export const SUMMARIES_COUNTED_MAX = 10_000;
/** Maximum number of records whose texts a search compares; beyond that it reads all records in the order of the list. */
export const SEARCH_CANDIDATES_MAX = 2_000;
/** Number of matching records at which a list of summaries stops counting, for a search with more candidates or without the index. */
export const SEARCHES_COUNTED_MAX = 1_000;
/** Maximum number of matching records that a list in an order other than time sorts itself. */
export const SORTED_ROWS_MAX = 1_000;
