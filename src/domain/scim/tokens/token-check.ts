// Authenticates tokens. Each request looks its token up, so a revocation by any process applies to the next request. The HTTP
// interface parses the header; tokens.ts creates and revokes tokens.
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
  /** id of the organization of this data directory, undefined before the first start */
  organization(): string | undefined;
  /** the configured token; blank counts as none */
  configured: Secret | undefined;
}

/** The last use of a token is written at most this often (SCIM-4). */
export const USE_NOTED_EVERY_MS = MINUTE_MS;

type Presented = Pick<
  TokenRow,
  "id" | "organizationId" | "label" | "profile" | "expiresAtMs" | "lastUsedAtMs"
>;

/** Checks presented tokens; created once, with the tokens. */
export class TokenCheck {
  readonly #configured: Buffer | undefined;
  /** the configured token at its last reading */
  #known: Presented | undefined;
  /** tokens whose last use is being written */
  readonly #noting = new Set<string>();

  constructor(private readonly dependencies: TokenCheckDependencies) {
    const configured = dependencies.configured?.reveal().trim();
    this.#configured = configured ? Buffer.from(sha256Hex(configured)) : undefined;
  }

  get isConfigured(): boolean {
    return this.#configured !== undefined;
  }

  /**
   * Identifies the caller of a token and records the use.
   * @param presented the text after `Bearer` in the header; undefined without one
   * @throws ScimError 401, the same for every cause
   * @source SCIM-2 to SCIM-6
   */
  authenticate(presented: string | undefined): ScimCaller & { tokenId: string } {
    const token = presented?.trim() ?? "";
    const isPlausible = token !== "" && token.length <= PRESENTED_LENGTH_MAX;
    const nowMs = this.dependencies.clock.nowMs();
    const row = isPlausible ? this.#find(sha256Hex(token), nowMs) : undefined;
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
   * The index lookup need not take constant time: timing reveals only parts of the digest of the presented text, which do not help
   * to find a long random token. The configured token may be short or predictable.
   */
  #find(digest: string, nowMs: number): Presented | undefined {
    const isConfigured = this.#configured && timingSafeEqual(this.#configured, Buffer.from(digest));
    return isConfigured ? this.#configuredToken(nowMs) : store.findOpen(this.dependencies.db.read, digest);
  }

  /** The configured token cannot be revoked, so its row is read only to record another use. */
  #configuredToken(nowMs: number): Presented | undefined {
    if (this.#known && isNoted(this.#known, nowMs)) return this.#known;
    const organizationId = this.dependencies.organization();
    if (organizationId === undefined) return undefined;
    this.#known = {
      id: CONFIGURED,
      organizationId,
      label: CONFIGURED,
      profile: "standard",
      expiresAtMs: null,
      lastUsedAtMs: store.findConfigured(this.dependencies.db.read)?.lastUsedAtMs ?? null,
    };
    return this.#known;
  }

  #noteUse(token: Presented, nowMs: number): void {
    const { id, organizationId } = token;
    if (isNoted(token, nowMs) || this.#noting.has(id)) return;
    this.#noting.add(id);
    this.dependencies.db
      .write((tx) => {
        if (id === CONFIGURED) store.addConfigured(tx, organizationId, nowMs);
        store.noteUse(tx, id, nowMs);
      }, "unobserved")
      .catch(() => {
        // A failure is ignored: a date in a list may be older than the last use, and the next use writes again.
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
    "a valid SCIM token is required: send the header Authorization: Bearer <token>",
  );
