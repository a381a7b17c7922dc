// Reads the certificate chain that a TLS peer presented.
export interface PeerCertificate {
  subject: string;
  issuer: string;
  /** UTC milliseconds */
  expiresAtMs: number;
}

/** Maximum length of a chain to read; a longer one is a mistake of the server. */
export const CHAIN_MAX = 10;

type Names = Partial<Record<"CN" | "O", string | string[]>>;

/** The members of `TLSSocket.getPeerCertificate(true)` that are used. */
export interface PresentedCertificate {
  subject?: Names;
  issuer?: Names;
  valid_to: string;
  fingerprint256: string;
  /** a root is its own issuer */
  issuerCertificate?: PresentedCertificate;
}

/** @returns the certificates of a peer, the peer's own first */
export function chainOf(first: PresentedCertificate): PeerCertificate[] {
  const chain: PeerCertificate[] = [];
  const seen = new Set<string>();
  for (let next: PresentedCertificate | undefined = first; next; next = next.issuerCertificate) {
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

const nameText = (name: Names | undefined): string =>
  [name?.CN ?? name?.O ?? "a nameless one"].flat().join(", ");
