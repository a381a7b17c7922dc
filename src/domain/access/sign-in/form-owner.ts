// The mark in a form that names the user that the form was made for. It outlasts the session: after a new sign-in, a form is sent
// again only for the same user, and a page of another site cannot make the mark.
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import { type Ids, randomToken } from "../../../platform/ids.ts";

const NONCE_BYTES = 16;
const PURPOSE = "owner of a form";

export class FormOwners {
  constructor(private readonly dependencies: { ids: Ids; sealing: Pick<Sealing, "mac" | "isMac"> }) {}

  /** @returns a new mark; each page has another one, because a page that is compressed must not repeat a secret (BREACH) */
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
