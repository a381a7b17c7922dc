// The device cookie: a browser receives it after a password sign-in, so that wrong passwords from elsewhere do not lock it out.
// It contains a random number and a MAC over that number, the user and the stored password hash. It cannot be forged, is valid
// for one account, and becomes invalid with a new password.
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import { type Ids, randomToken } from "../../../platform/ids.ts";
import type { SignInUser } from "../../identity/service.ts";

const NONCE_BYTES = 16;
const PURPOSE = "device cookie";
const VALUE = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** Issues and verifies device cookies. */
export class DeviceCookies {
  constructor(private readonly dependencies: { ids: Ids; sealing: Pick<Sealing, "mac" | "isMac"> }) {}

  /** @returns the value of a new cookie for a browser that the user has just signed in with */
  issue(user: SignInUser): string {
    const nonce = randomToken(this.dependencies.ids, NONCE_BYTES);
    return `${nonce}.${this.dependencies.sealing.mac(textOf(nonce, user), PURPOSE)}`;
  }

  /**
   * Does the same work for an account that does not exist.
   * @returns the random number of a cookie issued for this user and password; guesses are counted under it
   * @source OWASP, Slow Down Online Guessing Attacks with Device Cookies
   */
  nonceOf(value: string | undefined, user: SignInUser | undefined): string | undefined {
    const [, nonce, mark] = VALUE.exec(value ?? "") ?? [];
    if (nonce === undefined || mark === undefined) return undefined;
    return this.dependencies.sealing.isMac(mark, textOf(nonce, user), PURPOSE) ? nonce : undefined;
  }
}

const textOf = (nonce: string, user: SignInUser | undefined): string =>
  [nonce, user?.id, user?.passwordHash].join("\0");
