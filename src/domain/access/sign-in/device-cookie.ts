// The device cookie: what a browser keeps after a sign-in with a password, so that wrong passwords sent from elsewhere do
// not lock it out. It holds a random number and our mark over that number, the user and the stored password hash: nobody
// else can make one, it is good for one account, and a new password ends it.
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import { type Ids, randomToken } from "../../../platform/ids.ts";
import type { SignInUser } from "../../identity/service.ts";

const NONCE_BYTES = 16;
const PURPOSE = "device cookie";
const VALUE = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** Makes and checks device cookies. */
export class DeviceCookies {
  constructor(private readonly own: { ids: Ids; sealing: Pick<Sealing, "mac" | "isMac"> }) {}

  /** @returns the value of a new cookie for a browser that the user has just signed in with */
  issue(user: SignInUser): string {
    const nonce = randomToken(this.own.ids, NONCE_BYTES);
    return `${nonce}.${this.own.sealing.mac(textOf(nonce, user), PURPOSE)}`;
  }

  /**
   * Does the same work for an account that does not exist.
   * @returns the random number of a cookie that was issued to this user and password, under which its guesses are counted
   * @source OWASP, Slow Down Online Guessing Attacks with Device Cookies
   */
  nonceOf(value: string | undefined, user: SignInUser | undefined): string | undefined {
    const [, nonce, mark] = VALUE.exec(value ?? "") ?? [];
    if (nonce === undefined || mark === undefined) return undefined;
    return this.own.sealing.isMac(mark, textOf(nonce, user), PURPOSE) ? nonce : undefined;
  }
}

const textOf = (nonce: string, user: SignInUser | undefined): string =>
  [nonce, user?.id, user?.passwordHash].join("\0");
