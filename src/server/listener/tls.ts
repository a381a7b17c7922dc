// Reads the TLS certificate and key, and validates them before they replace a working pair. listen.ts uses them.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readSmallFile } from "../../platform/config/small-file.ts";
import { DomainError } from "../../platform/errors.ts";

/** Paths of PEM files. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export interface Certificate {
  /** certificate chain in PEM */
  readonly cert: string;
  /** private key in PEM */
  readonly key: string;
  /** UTC milliseconds */
  readonly expiresAtMs: number;
}

/** Size limit of each file. A chain of a few certificates takes about 10 kB. */
export const TLS_FILE_BYTES_MAX = 256 * 1024;

/** @throws DomainError `listen.bad_certificate`, `listen.key_exposed` */
export function readCertificate(files: TlsFiles): Certificate {
  const cert = readSmallFile(files.cert, TLS_FILE_BYTES_MAX);
  const key = readSmallFile(files.key, TLS_FILE_BYTES_MAX);
  if ("wrong" in cert || "wrong" in key) throw unreadable(files, { cert, key });
  if (key.isWorldReadable) {
    const message = `everyone on this machine can read the TLS key ${files.key}`;
    throw new DomainError("invalid", "listen.key_exposed", message, { hint: `run: chmod o= ${files.key}` });
  }
  const pair = { cert: cert.text, key: key.text };
  return { ...pair, expiresAtMs: checkPair(pair, files) };
}

type Read = ReturnType<typeof readSmallFile>;

function unreadable(files: TlsFiles, read: { cert: Read; key: Read }): DomainError {
  const faults = (["cert", "key"] as const).flatMap((name) => {
    const file = read[name];
    return "wrong" in file ? [`${files[name]} ${file.wrong}`] : [];
  });
  return bad(`the TLS files ${files.cert} and ${files.key} cannot be read: ${faults.join(", ")}`);
}

/** @returns the expiry of the leaf certificate, in UTC milliseconds */
function checkPair(pair: { cert: string; key: string }, files: TlsFiles): number {
  const certificate = parsed(
    () => new X509Certificate(pair.cert),
    `${files.cert} does not contain a PEM certificate`,
  );
  const key = parsed(
    () => createPrivateKey(pair.key),
    `${files.key} does not contain a PEM private key without a passphrase`,
  );
  if (certificate.checkPrivateKey(key)) return Date.parse(certificate.validTo);
  throw bad(`the TLS key ${files.key} does not belong to the certificate ${files.cert}`);
}

function parsed<T>(parse: () => T, message: string): T {
  try {
    return parse();
  } catch (cause) {
    throw bad(message, cause);
  }
}

const bad = (message: string, cause?: unknown): DomainError =>
  new DomainError("invalid", "listen.bad_certificate", message, {
    hint: "check server.tls_cert and server.tls_key",
    cause,
  });
