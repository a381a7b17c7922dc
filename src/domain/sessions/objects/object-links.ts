// Signs the URLs at which the local store receives and sends bytes. A signature covers one method, one object and one expiry time.
// Its keys have no other use.
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import type { AnnouncedObject } from "./object-store.ts";

/** Separates these MACs from all others of this service. */
const PURPOSE = "session-object";

const OBJECTS_PATH = "/session-objects";

export interface SignedAddress {
  method: "PUT" | "GET";
  object: Pick<AnnouncedObject, "id" | "sha256" | "sizeBytes" | "contentType">;
  /** Unix seconds */
  expires: number;
}

export class ObjectLinks {
  constructor(
    private readonly dependencies: { sealing: Pick<Sealing, "mac" | "isMac">; baseUrl(): string },
  ) {}

  /** @returns the absolute URL */
  urlOf(address: SignedAddress): string {
    const signature = this.dependencies.sealing.mac(textOf(address), PURPOSE);
    // base64url needs no escaping
    return `${this.dependencies.baseUrl()}${OBJECTS_PATH}/${address.object.id}?expires=${address.expires}&signature=${signature}`;
  }

  isSigned(address: SignedAddress, signature: string): boolean {
    return this.dependencies.sealing.isMac(signature, textOf(address), PURPOSE);
  }
}

/** JSON, because a content type may contain any separator. */
const textOf = ({ method, object: { id, sha256, sizeBytes, contentType }, expires }: SignedAddress): string =>
  JSON.stringify([method, id, sha256, sizeBytes, contentType, expires]);
