// Runs the check of object-store.ts on the buckets that the settings name.
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { boundedBytes, RESPONSE_TIMEOUT_MS } from "../../platform/object-store/requests.ts";
import { createOutbound, type Outbound } from "../../platform/outbound/outbound.ts";
import { configuredOrigin } from "../installation/origin.ts";
import {
  Buckets,
  PACKAGE_BUCKET,
  PUBLIC_ENDPOINT,
  SESSION_BUCKET,
  storeCaOf,
  storeDestinations,
} from "../object-store/buckets.ts";
import { examine, type Finding } from "./finding.ts";
import { type Ask, checkBucket } from "./object-store.ts";

/** @returns nothing without a store */
export async function bucketFindings(config: Config, clock: Clock): Promise<Finding[]> {
  const endpoint = config.get("blobs.s3.endpoint");
  if (endpoint === undefined) return [];
  const publicEndpoint = config.get("blobs.s3.public_endpoint") ?? endpoint;
  const outbound = createOutbound({ allowed: storeDestinations(config) });
  const open = () => new Buckets(config, { clock, outbound }); // throws the problem of a failed check
  const askAt = (destination: string) => requesterOf(outbound, { config, destination });
  const sessions = examine("session_bucket", async (check) => {
    const { sessions: bucket } = open();
    if (!bucket) return [];
    return await checkBucket(check, {
      bucket,
      prefix: config.get("blobs.s3.prefix") ?? "",
      ask: askAt(SESSION_BUCKET),
      askPublic: publicEndpoint === endpoint ? undefined : askAt(PUBLIC_ENDPOINT),
      origins: { publicEndpoint, own: configuredOrigin(config) },
    });
  });
  const packages = examine("package_bucket", async (check) => {
    const { packages: bucket } = open();
    return bucket ? await checkBucket(check, { bucket, prefix: "", ask: askAt(PACKAGE_BUCKET) }) : [];
  });
  return (await Promise.all([sessions, packages])).flat();
}

const requesterOf =
  (outbound: Outbound, { config, destination }: { config: Config; destination: string }): Ask =>
  async (url) => {
    const tls = { ca: storeCaOf(config), linkLocal: "allowed" } as const;
    const headers = { "accept-encoding": "identity" };
    try {
      const response = await outbound.fetch(destination, url, {
        timeoutMs: RESPONSE_TIMEOUT_MS,
        headers,
        tls,
      });
      return { status: response.status, bytes: await boundedBytes(response) };
    } catch {
      return undefined;
    }
  };
