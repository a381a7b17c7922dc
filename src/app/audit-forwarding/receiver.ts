// Builds the receiver of the audit log from the settings `audit.forward.*`. It contacts nothing.
import { hostname } from "node:os";
import { httpsReceiver, RECEIVER_DESTINATION } from "../../domain/audit/forwarding/https-receiver.ts";
import type { Receiver } from "../../domain/audit/forwarding/receiver.ts";
import { syslogReceiver } from "../../domain/audit/forwarding/syslog-receiver.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Destination, Outbound, PeerTls } from "../../platform/outbound/outbound.ts";
import { peerTlsOf } from "../files/peer-files.ts";

/** The effect of an unreachable receiver. */
export const RECEIVER_AFFECTS = "entries of the audit log wait in the database and are sent later";

/** @returns undefined if the log is not sent anywhere */
export function auditReceiverOf(
  config: Config,
  outbound: Pick<Outbound, "fetch" | "deliver">,
): Receiver | undefined {
  const url = config.get("audit.forward.url");
  if (url === undefined) return undefined;
  const tls = () => receiverTlsOf(config);
  if (isSyslog(url)) return syslogReceiver({ outbound, hostname: hostnameOf(config), tls });
  const { pathname } = new URL(url);
  return httpsReceiver({
    outbound,
    path: pathname,
    authorization: config.get("audit.forward.authorization"),
    tls,
  });
}

export function receiverDestinations(config: Config): readonly Destination[] {
  const url = config.get("audit.forward.url");
  if (url === undefined) return [];
  const origin = isSyslog(url) ? url.replace("syslog+tls:", "tls:") : new URL(url).origin;
  return [{ name: RECEIVER_DESTINATION, origin, why: "receives the audit log" }];
}

/** @throws DomainError `config.invalid` if a file cannot be read or does not contain PEM certificates or a key */
export const receiverTlsOf = (config: Config): PeerTls =>
  peerTlsOf(config, "audit.forward", "the audit receiver");

const isSyslog = (url: string): boolean => url.startsWith("syslog+tls:");

/** The public name, which stays the same when another machine takes over. */
const hostnameOf = (config: Config): string => {
  const url = config.get("server.public_url");
  return url === undefined ? hostname() : new URL(url).hostname;
};
