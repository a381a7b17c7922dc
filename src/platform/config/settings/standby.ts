// Settings of the second machine: `standby.*`.

import { replicaUrl } from "../standby/replica.ts";
import { boolean, path, type SettingType, scalarText } from "../types.ts";
import { optional, type Settings, withDefault } from "./setting.ts";

/** An RSA key of 16,384 bits has 2,756 characters; the type and the comment come on top. */
export const HOST_KEY_LENGTH_MAX = 4_096;
/** The types that both OpenSSH and the library support, without DSA. */
const TYPES = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "ssh-rsa",
] as const;
/** As in a `.pub` file of OpenSSH: type, key in base64, comment. */
const LINE = /^([a-z0-9@.-]{1,64}) ([A-Za-z0-9+/]+={0,2})(?: \P{Cc}+)?$/u;

/**
 * The public key of a file server. This check finds typing mistakes without the SSH library, which only the first
 * connection loads, so that startup stays fast.
 */
const hostKey: SettingType<string> = {
  placeholder: "key",
  read: (raw) => {
    const value = scalarText(raw) ?? "";
    if (value.length > HOST_KEY_LENGTH_MAX)
      return { wrong: `must be a public key of at most ${HOST_KEY_LENGTH_MAX} characters` };
    const [, type = "", base64 = ""] = LINE.exec(value) ?? [];
    if (base64 === "") return { wrong: "must be a public key in one line: its type, then base64" };
    if (!TYPES.some((known) => known === type))
      return { wrong: `must be a public key of one of the types ${TYPES.join(", ")}` };
    return typeIn(Buffer.from(base64, "base64")) === type
      ? { value, text: value }
      : { wrong: "must be a complete public key; the type in its base64 must match the type before it" };
  },
};

/** @returns the first field of a key, which is its type (RFC 4253, section 6.6); undefined if no further field follows */
function typeIn(key: Buffer): string | undefined {
  if (key.length < 4) return undefined;
  const end = 4 + key.readUInt32BE(0);
  return end < key.length ? key.toString("latin1", 4, end) : undefined;
}

export const STANDBY_SETTINGS = {
  "standby.replica": optional(
    replicaUrl,
    "where Litestream keeps the replica of the database: file:///path, s3://bucket/path or sftp://user@host/path",
  ),
  "standby.litestream": withDefault(path, "/usr/local/bin/litestream", "executable of Litestream"),
  "standby.lease": withDefault(
    boolean,
    "no",
    "whether only the machine that holds the lease in the replica's store accepts changes",
  ),
  "standby.sftp_key_file": optional(path, "private key of Litestream for an sftp replica"),
  "standby.sftp_host_key": optional(
    hostKey,
    "public key of the host of an sftp replica, such as ssh-ed25519 AAAA",
  ),
} satisfies Settings;
