// Settings of the second machine: `standby.*`.
import { hostKey } from "../standby/host-key.ts";
import { replicaUrl } from "../standby/replica.ts";
import { boolean, path } from "../types.ts";
import { optional, type Settings, withDefault } from "./setting.ts";

export const STANDBY_SETTINGS = {
  "standby.replica": optional(
    replicaUrl,
    "where Litestream keeps the replica of the database: file:///path, s3://bucket/path or sftp://user@host/path",
  ),
  "standby.litestream": withDefault(path, "/usr/local/bin/litestream", "executable of Litestream"),
  "standby.lease": withDefault(
    boolean,
    "no",
    "whether only the machine that holds the lease in the store of the replica accepts changes",
  ),
  "standby.sftp_key_file": optional(path, "private key of Litestream for an sftp replica"),
  "standby.sftp_host_key": optional(
    hostKey,
    "public key of the host of an sftp replica, such as ssh-ed25519 AAAA",
  ),
} satisfies Settings;
