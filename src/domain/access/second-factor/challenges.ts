// Challenges for passkeys (W3C Web Authentication section 13.4.3). A challenge contains its expiry and a MAC over its purpose
// and its session or sign-in, so that showing a page writes nothing. An answered challenge is stored until it expires.
import type { Clock } from "../../../platform/clock.ts";
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { type Ids, randomToken, sha256Hex } from "../../../platform/ids.ts";
import { ATTEMPT_TTL_MS } from "./model.ts";
import * as store from "./second-factor-store.ts";

/** The purpose and the owner of a challenge. */
export interface ChallengeUse {
  purpose: "prove" | "create";
  userId: string;
  /** id of the browser session or of the sign-in */
  holderId: string;
}

const NONCE_BYTES = 16;
const PURPOSE = "passkey challenge";
const VALUE = /^([A-Za-z0-9_-]{22}\.(\d{1,16}))\.([A-Za-z0-9_-]{43})$/;

export class Challenges {
  constructor(
    private readonly dependencies: { clock: Clock; ids: Ids; sealing: Pick<Sealing, "mac" | "isMac"> },
  ) {}

  /** @returns a new challenge as text; browsers receive its UTF-8 bytes */
  issue(use: ChallengeUse): string {
    const { clock, ids, sealing } = this.dependencies;
    const head = `${randomToken(ids, NONCE_BYTES)}.${clock.nowMs() + ATTEMPT_TTL_MS}`;
    return `${head}.${sealing.mac(textOf(head, use), PURPOSE)}`;
  }

  /**
   * @param encoded the challenge as clients send it back, in base64url
   * @returns whether it was issued for this use and has not expired
   */
  isValid(encoded: string, use: ChallengeUse): boolean {
    const [, head, expiresAtMs, mark] = VALUE.exec(decoded(encoded)) ?? [];
    if (head === undefined || mark === undefined) return false;
    if (this.dependencies.clock.nowMs() >= Number(expiresAtMs)) return false;
    return this.dependencies.sealing.isMac(mark, textOf(head, use), PURPOSE);
  }

  /** Uses up a valid challenge. @returns false if it was answered before */
  spend(tx: Tx, encoded: string): boolean {
    const challenge = decoded(encoded);
    const [, , expiresAtMs] = VALUE.exec(challenge) ?? [];
    return store.spendChallenge(tx, {
      challengeHash: sha256Hex(challenge),
      expiresAtMs: Number(expiresAtMs),
    });
  }
}

const decoded = (encoded: string): string => Buffer.from(encoded, "base64url").toString("utf8");

const textOf = (head: string, { purpose, userId, holderId }: ChallengeUse): string =>
  [head, purpose, userId, holderId].join("\0");
