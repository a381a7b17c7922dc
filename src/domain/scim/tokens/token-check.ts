// Who presents a token: looked up with each request, so a revocation by any process counts from the next one on. Reading
// the header is the HTTP face's; making and revoking tokens is in tokens.ts.
import { timingSafeEqual } from "node:crypto";
import { type Clock, MINUTE_MS } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import { sha256Hex } from "../../../platform/ids.ts";
import type { Secret } from "../../../platform/secret.ts";
import { ScimError } from "../errors.ts";
import type { ScimCaller } from "../model.ts";
import type { TokenRow } from "../tables.ts";
import { CONFIGURED, isLive, PRESENTED_LENGTH_MAX } from "./token-model.ts";
import * as store from "./tokens-store.ts";

export interface TokenCheckDependencies {
  db: Db;
  clock: Clock;
  /** id of the organization of this data directory, nothing before the first start */
  organization(): string | undefined;
  /** the token of the configuration; blank counts as none */
  configured: Secret | undefined;
}

/** The last use of a token is written at most this often (SCIM-4). */
export const USE_NOTED_EVERY_MS = MINUTE_MS;

type Presented = Pick<
  TokenRow,
  "id" | "organizationId" | "label" | "profile" | "expiresAtMs" | "lastUsedAtMs"
>;

/** Tells tokens from anything else; made once, with the tokens. */
export class TokenCheck {
  readonly #configured: Buffer | undefined;
  /** the configured token, as it was when it was looked up last */
  #known: Presented | undefined;
  /** tokens whose last use is on its way to the disk */
  readonly #noting = new Set<string>();

  constructor(private readonly own: TokenCheckDependencies) {
    const configured = own.configured?.reveal().trim();
    this.#configured = configured ? Buffer.from(sha256Hex(configured)) : undefined;
  }

  get isConfigured(): boolean {
    return this.#configured !== undefined;
  }

  /** See ScimTokens.authenticate. */
  authenticate(presented: string | undefined): ScimCaller & { tokenId: string } {
    const token = presented?.trim() ?? "";
    const isSane = token !== "" && token.length <= PRESENTED_LENGTH_MAX;
    const nowMs = this.own.clock.nowMs();
    const row = isSane ? this.#find(sha256Hex(token), nowMs) : undefined;
    if (row === undefined || !isLive(row, nowMs)) throw unauthenticated();
    this.#noteUse(row, nowMs);
    const { id, organizationId, label, profile } = row;
    return {
      tokenId: id,
      profile,
      actor: {
        kind: "scim",
        id: null,
        label: `scim:${label}`,
        organizationId,
        credential: `scim_token:${id}`,
      },
    };
  }

  /**
   * The index does not compare in constant time and need not: that tells of the digest of what was sent, and from there
   * nobody gets to a long random token. The configured one may be neither long nor random.
   */
  #find(digest: string, nowMs: number): Presented | undefined {
    const isConfigured = this.#configured && timingSafeEqual(this.#configured, Buffer.from(digest));
    return isConfigured ? this.#configuredToken(nowMs) : store.findOpen(this.own.db.read, digest);
  }

  /** Nobody can revoke it: it is looked up only when another use has to be noted. */
  #configuredToken(nowMs: number): Presented | undefined {
    if (this.#known && isNoted(this.#known, nowMs)) return this.#known;
    const organizationId = this.own.organization();
    if (organizationId === undefined) return undefined;
    this.#known = {
      id: CONFIGURED,
      organizationId,
      label: CONFIGURED,
      profile: "standard",
      expiresAtMs: null,
      lastUsedAtMs: store.findConfigured(this.own.db.read)?.lastUsedAtMs ?? null,
    };
    return this.#known;
  }

  /** Nobody waits for the write. */
  #noteUse(token: Presented, nowMs: number): void {
    const { id, organizationId } = token;
    if (isNoted(token, nowMs) || this.#noting.has(id)) return;
    this.#noting.add(id);
    this.own.db
      .write((tx) => {
        if (id === CONFIGURED) store.addConfigured(tx, organizationId, nowMs);
        store.noteUse(tx, id, nowMs);
      }, "unobserved")
      .catch(() => {
        // A date in a list is older than it could be, and the next use tries again.
      })
      .finally(() => this.#noting.delete(id));
  }
}

const isNoted = ({ lastUsedAtMs }: Presented, nowMs: number): boolean =>
  lastUsedAtMs !== null && nowMs - lastUsedAtMs < USE_NOTED_EVERY_MS;

const unauthenticated = (): ScimError =>
  new ScimError(
    401,
    undefined,
    "a valid SCIM token is needed: send the header Authorization: Bearer <token>",
  );
