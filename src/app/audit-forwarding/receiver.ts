// Builds the receiver of the audit log from the settings `audit.forward.*`. It contacts nothing.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { httpsReceiver, RECEIVER_DESTINATION } from "../../domain/audit/forwarding/https-receiver.ts";
import type { Receiver } from "../../domain/audit/forwarding/receiver.ts";
import { syslogReceiver } from "../../domain/audit/forwarding/syslog-receiver.ts";
import type { Config } from "../../platform/config/config.ts";
import { DomainError } from "../../platform/errors.ts";
import type { Destination, Outbound, PeerTls } from "../../platform/outbound/outbound.ts";

/** What waits while the receiver is out of reach. */
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

/** @throws DomainError `config.invalid` if a file cannot be read or has something else */
export function receiverTlsOf(config: Config): PeerTls {
  const cert = contentOf(config, "audit.forward.client_cert");
  const key = contentOf(config, "audit.forward.client_key");
  const ca = contentOf(config, "audit.forward.ca_file");
  const client = cert !== undefined && key !== undefined ? { cert, key } : undefined;
  if (ca !== undefined && !holds(() => new X509Certificate(ca).raw.length > 0))
    throw unusable("audit.forward.ca_file", "does not contain PEM certificates");
  if (client && !holds(() => new X509Certificate(client.cert).checkPrivateKey(createPrivateKey(client.key))))
    throw unusable(
      "audit.forward.client_cert",
      "must be a PEM certificate, and audit.forward.client_key its private key without a passphrase",
    );
  return { ca, client };
}

/** @returns false for a text that is no certificate or no key, too */
function holds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

const isSyslog = (url: string): boolean => url.startsWith("syslog+tls:");

/** The public name, which stays the same when another machine takes over. */
const hostnameOf = (config: Config): string => {
  const url = config.get("server.public_url");
  return url === undefined ? hostname() : new URL(url).hostname;
};

type FileSetting = "audit.forward.ca_file" | "audit.forward.client_cert" | "audit.forward.client_key";

function contentOf(config: Config, name: FileSetting): string | undefined {
  const path = config.get(name);
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw unusable(name, "cannot be read", cause);
  }
}

const unusable = (name: FileSetting, detail: string, cause?: unknown): DomainError =>
  new DomainError("invalid", "config.invalid", "the settings of the audit receiver cannot be used", {
    problems: [{ pointer: `/${name.replaceAll(".", "/")}`, detail: `${name}: ${detail}` }],
    cause,
  });
