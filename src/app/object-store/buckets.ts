// Builds the buckets of the object store from the configuration, for captured sessions and for package archives. It contacts nothing.
// platform/config/object-store-rules.ts has already checked that the settings are complete.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ARCHIVE_LIMITS } from "../../domain/catalog/archive/archive.ts";
import { LogArchive } from "../../domain/inference/log/log-archive.ts";
import { createS3Objects, type ObjectStore } from "../../domain/sessions/service.ts";
import { type Blobs, openBlobs } from "../../platform/blobs/blobs.ts";
import { keepInBucket } from "../../platform/blobs/bucket-blobs.ts";
import type { OpenWriter } from "../../platform/blobs/piece-writer.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { placeOf } from "../../platform/config/standby/replica.ts";
import type { SettingName } from "../../platform/config/table.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { DomainError } from "../../platform/errors.ts";
import { Bucket, bucketOrigin } from "../../platform/object-store/bucket.ts";
import type { StoreCall } from "../../platform/object-store/requests.ts";
import type { Credentials } from "../../platform/object-store/signature.ts";
import type { Destination, Outbound } from "../../platform/outbound/outbound.ts";
import { needed } from "../installation/needed-setting.ts";

/** Names in the list of outgoing connections. */
export const SESSION_BUCKET = "object-store";
export const PACKAGE_BUCKET = "object-store-packages";
const STANDBY_BUCKET = "object-store-standby";
/** for `doctor` only */
export const PUBLIC_ENDPOINT = "object-store-public";

/** Operations that fail while a bucket is unreachable. */
export const STORE_AFFECTS: Readonly<Record<string, string>> = {
  [SESSION_BUCKET]:
    "captured sessions are not uploaded, downloaded or removed; everything else keeps working",
  [STANDBY_BUCKET]: "the database is not replicated, and another machine cannot take over",
  [PACKAGE_BUCKET]: "package archives are not added; archives in the data directory are delivered",
};

/** Settings that a reload applies. */
export const STORE_CREDENTIALS = [
  "blobs.s3.access_key_id",
  "blobs.s3.secret_access_key",
  "blobs.s3.session_token",
] as const satisfies readonly SettingName[];

export interface BucketsOptions {
  clock: Clock;
  outbound: Pick<Outbound, "fetch">;
  /** called after each request to the store */
  observe?: ((call: StoreCall) => void) | undefined;
}

/** The buckets of an installation; undefined where the configuration has none. */
export class Buckets {
  readonly sessions: Bucket | undefined;
  readonly packages: Bucket | undefined;
  /** of the replica and its lease */
  readonly standby: Bucket | undefined;
  #config: Config;

  /** @throws DomainError `config.invalid` if blobs.s3.ca_file cannot be read */
  constructor(config: Config, options: BucketsOptions) {
    this.#config = config;
    const endpoint = config.get("blobs.s3.endpoint");
    if (endpoint === undefined) return;
    const ca = storeCaOf(config);
    const open = (bucket: string | undefined, destination: string) =>
      bucket === undefined
        ? undefined
        : new Bucket({
            ...options,
            ca,
            destination,
            credentials: () => credentialsOf(this.#config),
            place: {
              endpoint,
              publicEndpoint: config.get("blobs.s3.public_endpoint") ?? endpoint,
              region: config.get("blobs.s3.region"),
              bucket,
              pathStyle: config.get("blobs.s3.path_style"),
              sse: config.get("blobs.s3.sse"),
            },
          });
    this.sessions = open(config.get("blobs.s3.bucket"), SESSION_BUCKET);
    this.packages = open(config.get("blobs.s3.package_bucket"), PACKAGE_BUCKET);
    this.standby = open(standbyBucketOf(config), STANDBY_BUCKET);
  }

  /** Replaces the credentials for signing, if these settings have all of them. */
  useCredentials(fresh: Config): void {
    if (fresh.has("blobs.s3.access_key_id") && fresh.has("blobs.s3.secret_access_key")) this.#config = fresh;
  }
}

/** Stores of bytes outside the database. */
export interface Stores {
  /** package archives, in the data directory and possibly in a bucket */
  blobs: Blobs;
  sessionBlobs: Blobs;
  /** uploaded bundles that are not imported yet; never in a bucket */
  importBlobs: Blobs;
  s3Objects: ObjectStore | undefined;
  /** of the request log, in the bucket of captured sessions */
  logArchive: LogArchive | undefined;
  buckets: Buckets;
}

/** @throws DomainError `config.invalid` */
export async function openStores(
  { artifacts, sessions }: Pick<DataDirectory, "artifacts" | "sessions">,
  {
    config,
    writeUploads,
    ...options
  }: BucketsOptions & { config: Config; writeUploads?: OpenWriter | undefined },
): Promise<Stores> {
  const buckets = new Buckets(config, options);
  const local = await openBlobs(artifacts);
  const { sessions: bucket, packages } = buckets;
  const prefix = config.get("blobs.s3.prefix") ?? "";
  const name = config.get("blobs.s3.bucket") ?? "";
  const maxBytes = ARCHIVE_LIMITS.compressedBytesMax;
  const { clock } = options;
  return {
    blobs: packages ? keepInBucket(local, { bucket: packages, maxBytes }) : local,
    sessionBlobs: await openBlobs(sessions, writeUploads),
    importBlobs: await openBlobs(join(artifacts, "imports")),
    s3Objects: bucket && createS3Objects({ bucket, clock, prefix }),
    logArchive: bucket && new LogArchive({ bucket, name, prefix }),
    buckets,
  };
}

/** @returns the origins of the buckets, and the public one, which only `doctor` contacts */
export function storeDestinations(config: Config): readonly Destination[] {
  const endpoint = config.get("blobs.s3.endpoint");
  if (endpoint === undefined) return [];
  const pathStyle = config.get("blobs.s3.path_style");
  const publicEndpoint = config.get("blobs.s3.public_endpoint");
  const sessions = config.get("blobs.s3.bucket");
  const at = (
    name: string,
    { bucket, origin, why }: { bucket: string | undefined; origin?: string | undefined; why: string },
  ) =>
    bucket === undefined || origin === undefined
      ? []
      : [{ name, origin: bucketOrigin(origin, { bucket, pathStyle }), why }];
  return [
    ...at(SESSION_BUCKET, {
      bucket: sessions,
      origin: endpoint,
      why: "keeps captured sessions and exported request logs",
    }),
    ...at(PACKAGE_BUCKET, {
      bucket: config.get("blobs.s3.package_bucket"),
      origin: endpoint,
      why: "keeps package archives",
    }),
    ...at(STANDBY_BUCKET, {
      bucket: standbyBucketOf(config),
      origin: endpoint,
      why: "keeps the replica of the database and its lease",
    }),
    ...at(PUBLIC_ENDPOINT, {
      bucket: publicEndpoint === endpoint ? undefined : sessions,
      origin: publicEndpoint,
      why: "tested by doctor; workstations send captured sessions there",
    }),
  ];
}

/** @returns the bucket of the replica; undefined if it is elsewhere */
function standbyBucketOf(config: Config): string | undefined {
  const url = config.get("standby.replica");
  const place = url === undefined ? undefined : placeOf(url);
  return place?.kind === "s3" ? place.bucket : undefined;
}

/** @returns the certificates of blobs.s3.ca_file @throws DomainError `config.invalid` if it cannot be read */
export function storeCaOf(config: Config): string | undefined {
  const path = config.get("blobs.s3.ca_file");
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const detail = "blobs.s3.ca_file: cannot be read";
    throw new DomainError("invalid", "config.invalid", "the settings of the object store cannot be used", {
      problems: [{ pointer: "/blobs/s3/ca_file", detail }],
      cause,
    });
  }
}

const credentialsOf = (config: Config): Credentials => ({
  accessKeyId: needed(config, "blobs.s3.access_key_id"),
  secretAccessKey: needed(config, "blobs.s3.secret_access_key"),
  sessionToken: config.get("blobs.s3.session_token"),
});
