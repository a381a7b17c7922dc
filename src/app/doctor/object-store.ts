// Tests a bucket with a probe object: the store must take it, refuse wrong bytes, return it, refuse it to unauthenticated
// callers, and remove it.
import { randomBytes, randomUUID } from "node:crypto";
import { SECOND_MS } from "../../platform/clock.ts";
import { DomainError } from "../../platform/errors.ts";
import type { Bucket } from "../../platform/object-store/bucket.ts";
import { failureIn } from "../../platform/object-store/failures.ts";
import type { Check, Finding } from "./finding.ts";

/** With a larger clock difference, signed URLs expire too early or become valid too late. */
export const CLOCK_OFFSET_MAX_MS = 60 * SECOND_MS;
const PROBE_BYTES = 64;
const LIFETIME_SECONDS = 60;

/** Requests an address like an unauthenticated caller or a workstation. @returns undefined without a response */
export type Ask = (url: string) => Promise<{ status: number; bytes: Uint8Array } | undefined>;

export interface ProbeOptions {
  bucket: Bucket;
  /** of all keys */
  prefix: string;
  /** at the endpoint of the service */
  ask: Ask;
  /** at the public endpoint; undefined if it is the same */
  askPublic?: Ask | undefined;
  /** the public endpoint and our own origin; only workstations use the former */
  origins?: { publicEndpoint: string; own: string | undefined };
}

/** Removes the probe object. @returns a finding for each problem; one finding with the result `ok` without a problem */
export async function checkBucket(check: Check, options: ProbeOptions): Promise<Finding[]> {
  const { bucket, prefix } = options;
  const probe = {
    key: `${prefix}.quartermaster-probe-${randomUUID()}`,
    bytes: new Uint8Array(randomBytes(PROBE_BYTES)),
  };
  try {
    const found = [
      ...(await contentFindings(check, bucket, probe)),
      ...(await unsignedAccessFindings(check, options, probe)),
      ...(await publicFindings(check, options, probe)),
      ...(await removalFindings(check, bucket, probe)),
      ...clockFindings(check, bucket),
    ];
    return found.length > 0
      ? found
      : [check.ok("accepts, checks, returns and removes an object, and serves it only with a signature")];
  } catch (error) {
    const failure = failureIn(error);
    if (!(error instanceof DomainError) || !failure) throw error;
    return [
      check.failed(`${error.message}: ${failure.message}`, remedyOf(error, failure.code)),
      ...clockFindings(check, bucket),
    ];
  } finally {
    await bucket.remove(probe.key).catch(() => {}); // the previous finding explains why the store fails
  }
}

interface Probe {
  key: string;
  bytes: Uint8Array<ArrayBuffer>;
}

async function contentFindings(check: Check, bucket: Bucket, { key, bytes }: Probe): Promise<Finding[]> {
  const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  const upload = { key, sha256, sizeBytes: bytes.length, contentType: "application/octet-stream" };
  const found: Finding[] = [];
  if (await isTaken(bucket, { ...upload, bytes: bytes.map((byte) => byte ^ 1) }))
    found.push(
      check.failed(
        "accepts bytes with a wrong digest",
        "use a store that compares x-amz-checksum-sha256; until then each upload is read once when it is completed",
      ),
    );
  await bucket.put(upload, bytes);
  const head = await bucket.head(key);
  if (head?.sizeBytes !== bytes.length || (head.sha256 ?? sha256) !== sha256)
    found.push(check.failed("reports a wrong size or digest for an object", SAME_STORE));
  else if (head.sha256 === undefined)
    found.push(
      check.warning(
        "reports no SHA-256 for an object, so each upload is read once when it is completed",
        "use a store that keeps checksums",
      ),
    );
  const read = await bucket.read(key);
  if (!read || !isSame(Buffer.concat(await Array.fromAsync(read)), bytes))
    found.push(check.failed("returns other bytes than it accepted", SAME_STORE));
  return found;
}

async function isTaken(
  bucket: Bucket,
  { bytes, ...upload }: Parameters<Bucket["put"]>[0] & Pick<Probe, "bytes">,
): Promise<boolean> {
  try {
    await bucket.put(upload, bytes);
    return true;
  } catch (error) {
    if (failureIn(error)?.status === 400) return false;
    throw error;
  }
}

async function unsignedAccessFindings(
  check: Check,
  { bucket, ask }: ProbeOptions,
  { key }: Probe,
): Promise<Finding[]> {
  const response = await ask(bucket.plainUrl(key));
  return response?.status === 200
    ? [
        check.failed(
          "is public: it serves objects without a signature",
          "remove public access from the bucket immediately, and assume that others have read its objects",
        ),
      ]
    : [];
}

async function publicFindings(
  check: Check,
  { bucket, askPublic, origins }: ProbeOptions,
  { key, bytes }: Probe,
): Promise<Finding[]> {
  const found: Finding[] = [];
  if (origins?.own !== undefined && new URL(origins.publicEndpoint).host === new URL(origins.own).host)
    found.push(
      check.failed(
        "the public endpoint has the host of this service, so uploaded bytes would be served from there",
        "give the store its own host in blobs.s3.public_endpoint",
      ),
    );
  if (!askPublic || !origins) return found;
  const named = { contentType: "application/octet-stream", contentDisposition: "attachment" };
  const response = await askPublic(bucket.presignGet({ key, ...named }, LIFETIME_SECONDS));
  if (!response)
    found.push(
      check.warning(
        "the public endpoint cannot be reached from here",
        "check it from a workstation, or that this machine may reach blobs.s3.public_endpoint",
      ),
    );
  else if (response.status !== 200 || !isSame(response.bytes, bytes))
    found.push(
      check.failed(
        `the public endpoint answers a signed address with ${response.status} instead of the object`,
        "configure the proxy in front of the store to keep the header Host, and to forward to the same store",
      ),
    );
  const unauthenticated = await askPublic(bucket.plainUrl(key, origins.publicEndpoint));
  if (unauthenticated?.status === 200 && isSame(unauthenticated.bytes, bytes))
    found.push(
      check.failed(
        "is public at the public endpoint",
        "configure the proxy in front of the store not to add a signature",
      ),
    );
  return found;
}

async function removalFindings(check: Check, bucket: Bucket, { key }: Probe): Promise<Finding[]> {
  await bucket.remove(key);
  return (await bucket.head(key)) === undefined
    ? []
    : [check.failed("still has an object that it reported as removed", SAME_STORE)];
}

function clockFindings(check: Check, { clockOffsetMs = 0 }: Bucket): Finding[] {
  if (Math.abs(clockOffsetMs) <= CLOCK_OFFSET_MAX_MS) return [];
  const seconds = Math.round(Math.abs(clockOffsetMs) / SECOND_MS);
  const way = clockOffsetMs > 0 ? "ahead of" : "behind";
  return [
    check.failed(
      `the store's clock is ${seconds} s ${way} ours`,
      "set both clocks with NTP: signed URLs depend on both",
    ),
  ];
}

const SAME_STORE = "use a store that behaves like Amazon S3, and no cache in front of blobs.s3.endpoint";

const REMEDIES: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: "the store does not know blobs.s3.access_key_id; check it and the endpoint",
  SignatureDoesNotMatch: "check blobs.s3.secret_access_key, and that no proxy changes the header Host",
  RequestTimeTooSkewed: "set the clock of this machine, or of the store",
  NoSuchBucket: "create the bucket, or correct its name and blobs.s3.path_style",
  AccessDenied: "allow these credentials to get, put, delete and list objects of the bucket",
};

const remedyOf = ({ reason }: DomainError, code: string | undefined): string =>
  REMEDIES[code ?? ""] ??
  (reason === "object_store.unreachable"
    ? "check blobs.s3.endpoint, the network, the proxy (HTTPS_PROXY) and the certificate (blobs.s3.ca_file)"
    : "check the credentials, the region and the bucket, and that the endpoint is an S3 store");

const isSame = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0;
