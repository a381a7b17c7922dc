// Reads the PEM files of a peer whose certificates the operator chose: the CA to trust, and the client certificate and key with
// which this service authenticates.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Config } from "../../platform/config/config.ts";
import { DomainError } from "../../platform/errors.ts";
import type { PeerTls } from "../../platform/outbound/outbound.ts";

/** Prefix of the settings `ca_file`, `client_cert` and `client_key`. */
type Prefix = "audit.forward" | "tracing";
type FileSetting = `${Prefix}.${"ca_file" | "client_cert" | "client_key"}`;

/**
 * @param peer name of the peer in the error: `the audit receiver` @throws DomainError `config.invalid` if a file cannot be read
 * or has other contents
 */
export function peerTlsOf(config: Config, prefix: Prefix, peer: string): PeerTls {
  const contentOf = (name: FileSetting): string | undefined => {
    const path = config.get(name);
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, "utf8");
    } catch (cause) {
      throw unusable(name, { detail: "cannot be read", peer, cause });
    }
  };
  const cert = contentOf(`${prefix}.client_cert`);
  const key = contentOf(`${prefix}.client_key`);
  const ca = contentOf(`${prefix}.ca_file`);
  const client = cert !== undefined && key !== undefined ? { cert, key } : undefined;
  if (ca !== undefined && !holds(() => new X509Certificate(ca).raw.length > 0))
    throw unusable(`${prefix}.ca_file`, { detail: "does not contain PEM certificates", peer });
  if (client && !holds(() => new X509Certificate(client.cert).checkPrivateKey(createPrivateKey(client.key))))
    throw unusable(`${prefix}.client_cert`, {
      detail: `must be a PEM certificate, and ${prefix}.client_key its private key without a passphrase`,
      peer,
    });
  return { ca, client };
}

/** @returns whether the text is a certificate or a key */
function holds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

const unusable = (
  name: FileSetting,
  { detail, peer, cause }: { detail: string; peer: string; cause?: unknown },
): DomainError =>
  new DomainError("invalid", "config.invalid", `the settings of ${peer} cannot be used`, {
    hint: "correct the file or the setting; `quartermaster config check` tests the result without starting anything",
    problems: [{ pointer: `/${name.replaceAll(".", "/")}`, detail: `${name}: ${detail}` }],
    cause,
  });
