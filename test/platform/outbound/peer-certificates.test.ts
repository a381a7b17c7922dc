// Reading the certificate chain of a TLS peer.
import { expect, test } from "bun:test";
import {
  CHAIN_MAX,
  chainOf,
  type PresentedCertificate,
} from "../../../src/platform/outbound/peer-certificates.ts";

/** @returns the first of this many certificates, each issued by the next; the last one is self-signed */
function presented(count: number): PresentedCertificate {
  const root: PresentedCertificate = {
    subject: { O: ["Example", "Root"] },
    valid_to: "Jan  1 00:00:00 2030 GMT",
    fingerprint256: "0",
  };
  root.issuerCertificate = root;
  let first = root;
  for (let number = 1; number < count; number += 1)
    first = {
      ...root,
      fingerprint256: String(number),
      subject: { CN: `no. ${number}` },
      issuerCertificate: first,
    };
  return first;
}

test.each([-1, 0, 1])("reads certificates up to the limit from a chain with %i more", (step) => {
  expect(chainOf(presented(CHAIN_MAX + step))).toHaveLength(Math.min(CHAIN_MAX, CHAIN_MAX + step));
});

test("names are the common name, or else the organization, or else a placeholder", () => {
  const expiresAtMs = Date.UTC(2030, 0, 1);
  expect(chainOf(presented(2))).toEqual([
    { subject: "no. 1", issuer: "a nameless one", expiresAtMs },
    { subject: "Example, Root", issuer: "a nameless one", expiresAtMs },
  ]);
});
