// Settings of the S3-compatible object store for captured sessions and package archives: `blobs.s3.*`.
import { anyOrigin } from "../addresses.ts";
import { boolean, choice, path, pattern } from "../types.ts";
import { optional, type Settings, sealed, withDefault } from "./setting.ts";

const bucket = pattern(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, {
  placeholder: "bucket",
  form: "the name of a bucket: 3 to 63 lower-case letters, digits, dots and dashes",
});
const prefix = pattern(/^(?=.{2,200}$)(?:\w[\w.-]*\/)+$/, {
  placeholder: "prefix",
  form: "names that end with a slash, such as sessions/, at most 200 characters",
});
const region = pattern(/^[a-z0-9-]{1,64}$/, {
  placeholder: "region",
  form: "1 to 64 lower-case letters, digits and dashes",
});

export const OBJECT_STORE_SETTINGS = {
  "blobs.s3.endpoint": optional(
    anyOrigin,
    "origin at which this service reaches the S3-compatible store, such as https://s3.eu-central-1.amazonaws.com",
  ),
  "blobs.s3.public_endpoint": optional(
    anyOrigin,
    "origin at which workstations reach the store; by default the same",
  ),
  "blobs.s3.region": withDefault(region, "us-east-1", "region of the store, which is part of each signature"),
  "blobs.s3.bucket": optional(bucket, "bucket of captured sessions"),
  "blobs.s3.package_bucket": optional(
    bucket,
    "another bucket, in which package archives are kept as well; by default they are only in the data directory",
  ),
  "blobs.s3.prefix": optional(prefix, "beginning of the key of every captured session; by default none"),
  "blobs.s3.path_style": withDefault(
    boolean,
    "yes",
    "whether the bucket is in the path; no puts it in the host name",
  ),
  "blobs.s3.access_key_id": sealed("s3-access-key-id", "access key id for the store"),
  "blobs.s3.secret_access_key": sealed("s3-secret-access-key", "secret access key for the store"),
  "blobs.s3.session_token": sealed("s3-session-token", "session token of temporary credentials"),
  "blobs.s3.ca_file": optional(
    path,
    "PEM file with certificates to trust for the store, in addition to the built-in ones",
  ),
  "blobs.s3.sse": optional(
    choice("AES256", "aws:kms"),
    "encryption at rest that each upload requests from the store",
  ),
} satisfies Settings;
