// The standby machine according to the settings: the store of the replica, and the term of this data directory.
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { placeOf } from "../../platform/config/standby/replica.ts";
import { createOutbound } from "../../platform/outbound/outbound.ts";
import { Buckets, storeDestinations } from "../object-store/buckets.ts";
import { bucketReplica, folderReplica, type ReplicaStore } from "./replica-store.ts";
import { sftpDestinations, sftpReplica } from "./sftp-replica.ts";

/** @returns the store of the replica; undefined without a replica */
export function replicaStoreOf(
  config: Config,
  { clock, buckets }: { clock: Clock; buckets?: Pick<Buckets, "standby"> },
): ReplicaStore | undefined {
  const url = config.get("standby.replica");
  if (url === undefined) return undefined;
  const place = placeOf(url);
  if (place.kind === "file") return folderReplica(place.path, url);
  if (place.kind === "sftp")
    return sftpReplica(place, {
      config,
      url,
      outbound: createOutbound({ allowed: sftpDestinations(config) }),
    });
  const outbound = createOutbound({ allowed: storeDestinations(config) });
  const { standby } = buckets ?? new Buckets(config, { clock, outbound });
  return standby && bucketReplica(standby, { url, prefix: place.prefix });
}
