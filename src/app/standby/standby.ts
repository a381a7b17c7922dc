// Opens the store of the replica that the setting `standby.replica` names: a folder, a bucket, or a folder on an SFTP server.
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { placeOf } from "../../platform/config/standby/replica.ts";
import { createOutbound } from "../../platform/outbound/outbound.ts";
import { Buckets, storeDestinations } from "../object-store/buckets.ts";
import { bucketReplica, folderReplica, type ReplicaStore } from "./replica-store.ts";
import { sftpDestinations, sftpReplica } from "./sftp-replica.ts";

/** @returns undefined without a replica */
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
