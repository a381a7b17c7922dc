// Limits of reading a captured session. The first group are the client's own limits: it never creates a larger bundle.

/** size of the whole unpacked bundle */
export const BUNDLE_BYTES_MAX = 134_217_728;
export const BUNDLE_FILE_BYTES_MAX = 67_108_864;
/** number of files, without the manifest */
export const BUNDLE_FILES_MAX = 2_048;

/** 2,048 files with paths of ordinary lengths take about 1 MiB. */
export const MANIFEST_BYTES_MAX = 4_194_304;
/** A record is one line, or one message of an export. A larger record is mentioned but not shown. */
export const RECORD_BYTES_MAX = 2_097_152;
/** Maximum nesting of objects and lists; parsing deeper JSON takes too long. */
export const RECORD_DEPTH_MAX = 64;
/** Maximum number of shown records of one transcript; the download has all of them. */
export const RECORDS_MAX = 250_000;

/** One page of a transcript ends at whichever comes first. */
export const PAGE_ENTRIES_MAX = 200;
export const PAGE_CHARACTERS_MAX = 200_000;
export const PAGE_RECORD_BYTES_MAX = 8_388_608;
/** Longer texts are truncated, and the entry is marked. */
export const ENTRY_CHARACTERS_MAX = 20_000;

/** Maximum number of different strings that a scan counts. */
export const SECRETS_MAX = 1_000;

/** Processor time of one page. */
export const PAGE_TIME_MS = 2_000;
/** Time limit of a page and of a scan, from the first byte. */
export const STORE_TIME_MS = 25_000;
export const SCAN_TIME_MS = 20_000;
