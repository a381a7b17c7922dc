// Settings of captured sessions and the store of their bytes: `sessions.*` and `blobs.store`.
import { boolean, choice, integer } from "../types.ts";
import { optional, type Settings, withDefault } from "./setting.ts";

const SESSION_RETENTION_DAYS = { min: 1, max: 3650 };
/** 0: an old version is removed as soon as a new one is complete */
const SUPERSEDED_DAYS = { min: 0, max: 3650 };
const URL_TTL_SECONDS = { min: 60, max: 900 };
/** each takes a connection and a few megabytes of memory */
const UPLOADS_AT_ONCE = { min: 1, max: 1000 };
const TOTAL_BYTES = { min: 1, max: 1_125_899_906_842_624 };

export const SESSION_SETTINGS = {
  "blobs.store": withDefault(
    choice("local", "s3"),
    "local",
    "where captured sessions are kept: in the data directory (local) or in an S3-compatible store (s3)",
  ),
  "sessions.retention_days": withDefault(
    integer(SESSION_RETENTION_DAYS),
    "30",
    "days to keep a captured session after its upload",
  ),
  "sessions.superseded_days": withDefault(
    integer(SUPERSEDED_DAYS),
    "7",
    "days to keep the former version of a captured session after a new one is uploaded",
  ),
  "sessions.url_ttl_seconds": withDefault(
    integer(URL_TTL_SECONDS),
    "300",
    "lifetime of the URLs for uploading and downloading captured sessions",
  ),
  "sessions.uploads_at_once": withDefault(
    integer(UPLOADS_AT_ONCE),
    "32",
    "maximum number of captured sessions that this service receives at the same time",
  ),
  "sessions.total_bytes_max": optional(
    integer(TOTAL_BYTES),
    "maximum size of all captured sessions in bytes; by default there is no limit",
  ),
  "sessions.administrators_may_read": withDefault(
    boolean,
    "no",
    "whether administrators may read the transcripts of other people's sessions in the console; each opening is in the audit log",
  ),
} satisfies Settings;
