// Limits of captured sessions. The first group belongs to the API, and clients depend on it.
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../platform/clock.ts";

export const UPLOAD_BYTES_MAX = 134_217_728;
/** in characters, like all lengths below */
export const SESSION_ID_LENGTH_MAX = 512;
export const CONTENT_TYPE_LENGTH_MAX = 256;
export const PATH_LENGTH_MAX = 4096;
export const TITLE_LENGTH_MAX = 256;
export const SUMMARY_LENGTH_MAX = 1024;

/** Time to complete an upload, from the last presign. */
export const UPLOAD_WINDOW_MS = 15 * MINUTE_MS;
export const PENDING_PER_USER_MAX = 200;
/** maximum bytes announced by the pending uploads of one user */
export const PENDING_BYTES_PER_USER_MAX = 8 * 1024 ** 3;
/** retry interval for uploads that these limits refused; some pending uploads are complete by then */
export const PENDING_RETRY_SECONDS = 60;

/** How long a pending upload is kept after its deadline. */
export const PENDING_KEPT_MS = HOUR_MS;
export const FAILED_KEPT_MS = DAY_MS;
/** How long a session without bytes answers 410 before it is forgotten. */
export const TOMBSTONE_KEPT_MS = 30 * DAY_MS;

/** Disk space that uploads leave free: the larger of these two. */
export const FREE_BYTES_KEPT = 1024 ** 3;
export const FREE_SHARE_KEPT = 0.05;
/** retry interval if the disk or the quota is full */
export const SPACE_RETRY_SECONDS = 60;

/** Limits on a pause in a body, and on a whole body, in milliseconds. */
export const BODY_IDLE_MS = 15_000;
export const BODY_WHOLE_MS = 60_000;
export const BUSY_RETRY_SECONDS = 2;
/** retry interval if a store does not respond */
export const STORE_RETRY_SECONDS = 30;

/** Maximum number of objects that are hashed concurrently because their store has no digest, and the time limit for one. */
export const HASHED_AT_ONCE_MAX = 2;
export const HASH_TIME_MS = 25_000;

export const LIST_LIMIT_DEFAULT = 50;
export const LIST_LIMIT_MAX = 100;
/** maximum number of candidates whose texts a search compares; with more, it scans the list in order */
export const SEARCH_CANDIDATES_MAX = 2_000;
/** maximum number of colleagues that a search offers */
export const MEMBERS_MAX = 10;
/** maximum number of recipients of one session, without its owner */
export const RECIPIENTS_MAX = 500;
/** maximum number of recipients listed for a session that everyone sees */
export const RECIPIENTS_SHOWN_MAX = 1_000;
/** maximum number of versions in the detail of a session */
export const VERSIONS_SHOWN_MAX = 100;

/** One turn of the retention job. */
export const RETENTION_OBJECTS_MAX = 1_000;
export const RETENTION_TURN_MS = 30_000;
/** maximum number of rows in one transaction */
export const RETENTION_BATCH_ROWS = 200;
/** maximum number of objects that one sweep removes */
export const SWEEP_OBJECTS_MAX = 1_000;

/** A lifecycle rule of the bucket must wait at least this much longer than our own retention, so that it removes only leftovers. */
export const LIFECYCLE_RULE_DELAY_DAYS = 30;
