// A bucket client for a store on this machine.
import { Bucket, type BucketOptions, bucketOrigin } from "../../../src/platform/object-store/bucket.ts";
import type { Credentials } from "../../../src/platform/object-store/signature.ts";
import { createOutbound } from "../../../src/platform/outbound/outbound.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { TEST_KEYS } from "./s3-server.ts";
import type { KnownKeys } from "./signature-check.ts";

export const credentialsOf = ({ accessKeyId, secretAccessKey, sessionToken }: KnownKeys): Credentials => ({
  accessKeyId: new Secret(accessKeyId),
  secretAccessKey: new Secret(secretAccessKey),
  sessionToken: sessionToken === undefined ? undefined : new Secret(sessionToken),
});

/** @param origin of the store @returns a client of its bucket `sessions`, in path style and with TEST_KEYS by default */
export const bucketAt = (
  origin: string,
  {
    place: changed,
    ...options
  }: Partial<Omit<BucketOptions, "place">> & { place?: Partial<BucketOptions["place"]> } = {},
): Bucket => {
  const endpoints = { endpoint: origin, publicEndpoint: origin };
  const place = { ...endpoints, region: "us-east-1", bucket: "sessions", pathStyle: true, ...changed };
  return new Bucket({
    outbound: createOutbound({
      allowed: [{ name: "store", origin: bucketOrigin(place.endpoint, place), why: "objects" }],
    }),
    destination: "store",
    clock: { nowMs: Date.now },
    credentials: () => credentialsOf(TEST_KEYS),
    place,
    ...options,
  });
};
