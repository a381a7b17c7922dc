// The mark in a form that identifies the user whom the form was made for. It outlasts the session: after a new sign-in, a form
// is resent only for the same user. Pages of other sites cannot create a mark.
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import { type Ids, randomToken } from "../../../platform/ids.ts";

const NONCE_BYTES = 16;
const PURPOSE = "owner of a form";

export class FormOwners {
  constructor(private readonly dependencies: { ids: Ids; sealing: Pick<Sealing, "mac" | "isMac"> }) {}

  /** @returns a new mark, different on each page, because compressed pages must not repeat a secret (BREACH) */
  mark(userId: string): string {
    const nonce = randomToken(this.dependencies.ids, NONCE_BYTES);
    return `${nonce}.${this.dependencies.sealing.mac(textOf(nonce, userId), PURPOSE)}`;
  }

  /** @returns whether the mark was made for this user */
  isOf(mark: string | undefined, userId: string): boolean {
    const [nonce = "", mac = ""] = mark?.split(".") ?? [];
    return this.dependencies.sealing.isMac(mac, textOf(nonce, userId), PURPOSE);
  }
}

const textOf = (nonce: string, userId: string): string => `${nonce}\0${userId}`;
