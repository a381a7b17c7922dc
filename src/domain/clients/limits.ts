// Limits on what a workstation may report and on how long a client is kept. A report that exceeds a limit is rejected as a
// whole, because a truncated report would get a wrong verdict. The schema in model.ts enforces lengths and counts, report.ts bytes.

/** Characters. Far above any real value, because a workstation whose reports are rejected is missing from the inventory. */
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

/** Reasons stored with a verdict. One extra reason counts those left out. */
export const REASONS_MAX = 100;
/** Characters; longer reasons are truncated. */
export const REASON_LENGTH_MAX = 1_000;

/** Records of one user. Containers may report a new installation id each time, so the record seen longest ago is dropped. */
export const CLIENTS_PER_USER_MAX = 256;
/** A client without a report for this many days is stale. */
export const STALE_AFTER_DAYS = 30;

/** The longest time without a report that a filter takes, in days. */
export const NOT_SEEN_DAYS_MAX = 99_999;

/** Harness names listed in the facets. */
export const FACET_HARNESSES_MAX = 1_000;
/** Clients listed when a name is ambiguous. */
export const REFERENCE_MATCHES_MAX = 10;
/** Records that a job or a bulk operation handles in one transaction. */
export const BATCH_ROWS = 100;

/** Characters of a harness version that is counted; longer ones count as unreadable. */
export const COUNTED_VERSION_LENGTH_MAX = 64;
/** Versions of harnesses listed in the counts; the others are counted together. */
export const COUNTED_VERSIONS_MAX = 1_000;
/** Matching records after which a list of summaries stops counting. */
export const SUMMARIES_COUNTED_MAX = 10_000;
/** Records whose texts a search compares before it reads all records in the order of the list instead. */
export const SEARCH_CANDIDATES_MAX = 2_000;
/** Matching records after which a list of summaries stops counting a search that has more candidates, or none by the index. */
export const SEARCHES_COUNTED_MAX = 1_000;
/** Matching records that a list in another order than by time sorts itself. */
export const SORTED_ROWS_MAX = 1_000;
