// The operator's view of gateway keys: pages of keys, one user's key, pending revocations. It contains no secrets and makes no
// network calls.
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import type { Problem } from "../../../platform/errors.ts";
import { runInTurns, runSynchronously } from "../../../platform/steps.ts";
import type { User } from "../../identity/service.ts";
import {
  type KeyedPage,
  keyedPage,
  offsetOf,
  type Page,
  type PageQuery,
  readPageQuery,
  refuseProblems,
} from "../../shared/page.ts";
import { pageInSteps } from "../../shared/page-steps.ts";
import * as store from "../keys/store.ts";
import { type KeyState, stateOf } from "../model.ts";
import { PROVISIONER_CODES, type ProvisionerCode } from "../provisioners/provisioner.ts";
import * as directoryStore from "./key-directory-store.ts";

export interface KeyView {
  userId: string;
  email: string;
  state: KeyState;
  alias: string | null;
  /** identifier at the gateway, never the credential */
  externalId: string | null;
  /** the last problem, worded for operators; a ready key with a problem still works */
  problem: string | null;
  problemCode: string | null;
  /** consecutive */
  failures: number;
  /** when the service reconciles the key by itself; null if it waits for a request */
  nextAttemptAtMs: number | null;
  /** end of the lease of an attempt, in any process */
  attemptUntilMs: number | null;
  expiresAtMs: number | null;
  reconciledAtMs: number | null;
  validatedAtMs: number | null;
  invalidatedAtMs: number | null;
  invalidationReason: string | null;
  /** id of the key that seals the credential */
  sealingKeyId: string | null;
}

/** The position of a key in the order of lists. */
export type KeyPlace = Pick<KeyView, "email" | "userId">;

interface KeySelection extends Omit<directoryStore.KeyFilter, "q" | "expiresByMs"> {
  expiresWithinMs?: number | undefined;
  /** the last key of the previous page; unlike a page number, it does not require scanning the earlier pages */
  after?: KeyPlace | undefined;
}

export interface KeyQuery extends PageQuery, KeySelection {}

export interface KeyedKeyQuery extends KeySelection {
  /** part of the email address */
  q?: string | undefined;
  /** number of keys per page */
  limit: number;
}

export class KeyDirectory {
  constructor(private readonly dependencies: { db: Db; clock: Clock }) {}

  /**
   * @returns stored keys, ordered by email address; users without a key are not listed
   * @throws DomainError `gateway_key.invalid`
   */
  list(organizationId: string, { after, ...query }: KeyQuery): Page<KeyView> {
    const problems: Problem[] = [];
    const request = readPageQuery(query, problems);
    refuseProblems("gateway_key.invalid", problems);
    const { page, perPage, q } = request;
    const rows = this.#rowsLike(organizationId, { ...query, q });
    const slice = {
      after: placeOf(after),
      offset: after ? 0 : offsetOf(request),
      limit: perPage,
      known: query.known,
    };
    const { items, total } = runSynchronously(pageInSteps(rows, slice));
    return { page, perPage, total, items: items.map(viewOf) };
  }

  /** @returns the number of matching stored keys; counted in turns */
  async count(organizationId: string, { after: _, limit: __, ...wanted }: KeyedKeyQuery): Promise<number> {
    const rows = this.#rowsLike(organizationId, wanted);
    const window = { after: undefined, offset: 0, limit: 1, known: undefined };
    return (await runInTurns(pageInSteps(rows, window))).total;
  }

  /**
   * @returns one page of stored keys after a position, ordered by email address; read in turns, because a search for a rare
   * text reads all rows
   */
  async listByKey(
    organizationId: string,
    { after, limit, ...wanted }: KeyedKeyQuery,
  ): Promise<KeyedPage<KeyView>> {
    const rows = this.#rowsLike(organizationId, wanted);
    const window = { after: placeOf(after), offset: 0, limit: limit + 1, known: 0 };
    const { items } = await runInTurns(pageInSteps(rows, window));
    return keyedPage(items.map(viewOf), limit, keyCursor);
  }

  #rowsLike(organizationId: string, wanted: Omit<KeyedKeyQuery, "after" | "limit">) {
    const { state, withProblem, userId, q, expiresWithinMs } = wanted;
    const { db, clock } = this.dependencies;
    const expiresByMs = expiresWithinMs === undefined ? undefined : clock.nowMs() + expiresWithinMs;
    return directoryStore.keysLike(db.read, organizationId, { state, withProblem, userId, q, expiresByMs });
  }

  /** @returns the states of keys by user; users without a key are absent */
  statesOf(userIds: readonly string[]): ReadonlyMap<string, KeyState> {
    return directoryStore.statesOf(this.dependencies.db.read, userIds);
  }

  /** @returns the user's key; its state is `missing` for none */
  show({ id, email }: Pick<User, "id" | "email">): KeyView {
    const row = store.findKey(this.dependencies.db.read, id);
    return row ? viewOf(row) : { ...NO_KEY, userId: id, email };
  }

  /** @returns the number of the user's keys that still have to be revoked at the gateway */
  revocationsOf({ id }: Pick<User, "id">): number {
    return directoryStore.countRevocationsOf(this.dependencies.db.read, id);
  }
}

/** @returns the cursor after a key: keys are ordered by address, then by user */
export const keyCursor = ({ email, userId }: KeyPlace): string =>
  `${userId}.${Buffer.from(email).toString("base64url")}`;

const placeOf = (after: KeyPlace | undefined) => after && { first: after.email, second: after.userId };

const viewOf = (row: directoryStore.ShownKey): KeyView => ({
  userId: row.userId,
  email: row.email,
  state: row.state,
  alias: row.alias,
  externalId: row.externalId,
  problem: problemOf(row),
  problemCode: row.problemCode,
  failures: row.failures,
  nextAttemptAtMs: row.nextAttemptAtMs,
  attemptUntilMs: row.recoveringUntilMs,
  expiresAtMs: row.expiresAtMs,
  reconciledAtMs: row.reconciledAtMs,
  validatedAtMs: row.validatedAtMs,
  invalidatedAtMs: row.invalidatedAtMs,
  invalidationReason: row.invalidationReason,
  sealingKeyId: row.sealingKeyId,
});

const NO_KEY: Omit<KeyView, "userId" | "email"> = {
  state: stateOf(undefined),
  alias: null,
  externalId: null,
  problem: null,
  problemCode: null,
  failures: 0,
  nextAttemptAtMs: null,
  attemptUntilMs: null,
  expiresAtMs: null,
  reconciledAtMs: null,
  validatedAtMs: null,
  invalidatedAtMs: null,
  invalidationReason: null,
  sealingKeyId: null,
};

/** Texts for operators. The texts in provisioner.ts refer users to their administrator. */
const PROBLEMS: Readonly<Record<ProvisionerCode, string>> = {
  invalid_config: "the gateway or its provisioner is misconfigured",
  account_missing: "the gateway has no account with this address",
  conflict: "the gateway has conflicting entries for this address",
  credential_invalid: "the gateway accepts neither the key nor a replacement",
  unavailable: "the gateway is unavailable",
  rejected: "the gateway refused to create a key",
};

/** A rejected key is a problem even before the first attempt to replace it. */
function problemOf({ problem, problemCode, invalidationReason }: directoryStore.ShownKey): string | null {
  const known = problemText(problemCode);
  return problem === null ? invalidationReason : (known ?? problem);
}

/** @returns the text for operators; undefined if the code is not a provisioner's */
export function problemText(problemCode: string | null): string | undefined {
  const code = PROVISIONER_CODES.find((known) => known === problemCode);
  return code && PROBLEMS[code];
}
