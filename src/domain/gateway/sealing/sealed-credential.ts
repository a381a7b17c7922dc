// The stored secret of a gateway key: sealed under its user and version, so a value that was moved to another row or kept from
// an earlier write does not open.
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import { DomainError } from "../../../platform/errors.ts";
import { Secret } from "../../../platform/secret.ts";
import type { KeyRow } from "../model.ts";

type Place = Pick<KeyRow, "userId" | "credentialVersion">;

/** The identity under which a credential is sealed. */
export const credentialContext = ({ userId, credentialVersion }: Place): string =>
  `gateway-key:${userId}:${credentialVersion}`;

/** @returns the columns that hold the secret */
export function sealCredential(sealing: Sealing, credential: Secret, place: Place) {
  const sealedCredential = sealing.seal(credential.reveal(), credentialContext(place));
  return { sealedCredential, sealingKeyId: sealing.keyIdOf(sealedCredential) };
}

/** @returns the secret; undefined if its sealing key is missing or it is damaged, so it must be replaced */
export function openCredential(
  sealing: Sealing,
  row: Place & Pick<KeyRow, "sealedCredential">,
): Secret | undefined {
  if (row.sealedCredential === null) return undefined;
  try {
    return new Secret(sealing.open(row.sealedCredential, credentialContext(row)));
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}
