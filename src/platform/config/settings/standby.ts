// Settings of the second machine: `standby.*`.
import { replicaUrl } from "../standby/replica.ts";
import { boolean, path, pattern } from "../types.ts";
import { optional, type Settings, withDefault } from "./setting.ts";

/** As in a `.pub` file of OpenSSH: type, key in base64, comment. A key of RSA with 16,384 bits has 2,756 characters. */
const hostKey = pattern(/^[a-z0-9@.-]{1,64} [A-Za-z0-9+/]{4,4000}={0,2}(?: [^\p{Cc}]{1,200})?$/u, {
  placeholder: "key",
  form: "a public key in one line: its type, then base64",
});

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
