// Reads the certificate chain that a TLS peer presented.
import type { TLSSocket } from "node:tls";

export interface PeerCertificate {
  subject: string;
  issuer: string;
  /** UTC milliseconds */
  expiresAtMs: number;
}

/** Certificates in one chain that are read; more is a mistake of the server. */
const CHAIN_MAX = 10;

type DetailedCertificate = ReturnType<TLSSocket["getPeerCertificate"]> & {
  issuerCertificate?: DetailedCertificate;
};

/** @returns the certificates of a peer, its own first */
export function chainOf(first: DetailedCertificate): PeerCertificate[] {
  const chain: PeerCertificate[] = [];
  const seen = new Set<string>();
  for (let next: DetailedCertificate | undefined = first; next; next = next.issuerCertificate) {
    if (seen.has(next.fingerprint256) || chain.length >= CHAIN_MAX) break;
    seen.add(next.fingerprint256);
    chain.push({
      subject: nameText(next.subject),
      issuer: nameText(next.issuer),
      expiresAtMs: Date.parse(next.valid_to),
    });
  }
  return chain;
}

const nameText = (name: Partial<Record<"CN" | "O", string | string[]>> | undefined): string =>
  [name?.CN ?? name?.O ?? "a nameless one"].flat().join(", ");
