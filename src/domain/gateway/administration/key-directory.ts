// The operator's view of gateway keys: pages of keys, one user's key, pending revocations. Contains no secrets and makes no
// network calls.
import type { Db } from "../../../platform/database/database.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import { runSynchronously } from "../../../platform/steps.ts";
import type { User } from "../../identity/service.ts";
import { offsetOf, type Page, type PageQuery, readPageQuery } from "../../shared/page.ts";
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
  /** when the service reconciles the key on its own; null if it waits for a request */
  nextAttemptAtMs: number | null;
  /** an attempt, in any process, holds the key until then */
  attemptUntilMs: number | null;
  expiresAtMs: number | null;
  reconciledAtMs: number | null;
  validatedAtMs: number | null;
  invalidatedAtMs: number | null;
  invalidationReason: string | null;
  /** id of the key that seals the credential */
  sealingKeyId: string | null;
}

export interface KeyQuery extends PageQuery, Omit<directoryStore.KeyFilter, "q"> {
  /** the last key of the previous page; unlike a page number, it does not require scanning the earlier pages */
  after?: Pick<KeyView, "email" | "userId"> | undefined;
}

export class KeyDirectory {
  constructor(private readonly db: Db) {}

  /**
   * @returns stored keys, ordered by email address; users without a key are not listed
   * @throws DomainError `gateway_key.invalid`
   */
  list(organizationId: string, { state, withProblem, after, ...query }: KeyQuery): Page<KeyView> {
    const problems: Problem[] = [];
    const request = readPageQuery(query, problems);
    if (problems.length > 0) throw invalidQuery(problems);
    const { page, perPage, q } = request;
    const rows = directoryStore.keysLike(this.db.read, organizationId, { state, withProblem, q });
    const place = after && { first: after.email, second: after.userId };
    const slice = { after: place, offset: after ? 0 : offsetOf(request), limit: perPage, known: query.known };
    const { items, total } = runSynchronously(pageInSteps(rows, slice));
    return { page, perPage, total, items: items.map(viewOf) };
  }

  /** @returns the user's key; its state is `missing` for none */
  show({ id, email }: Pick<User, "id" | "email">): KeyView {
    const row = store.findKey(this.db.read, id);
    return row ? viewOf(row) : { ...NO_KEY, userId: id, email };
  }

  /** @returns the number of the user's keys that still have to be revoked at the gateway */
  revocationsOf({ id }: Pick<User, "id">): number {
    return directoryStore.countRevocationsOf(this.db.read, id);
  }
}

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

/** For operators. The texts in provisioner.ts are for users and refer them to their administrator. */
const PROBLEMS: Readonly<Record<ProvisionerCode, string>> = {
  invalid_config: "the gateway or its provisioner is not configured as it must be",
  account_missing: "the gateway has no account of this address",
  conflict: "the gateway has conflicting entries for this address",
  credential_invalid: "the gateway accepts neither the key nor another in its place",
  unavailable: "the gateway is unavailable",
  rejected: "the gateway refused to make a key",
};

/** A disowned key is a problem even before the first attempt to replace it. */
function problemOf({ problem, problemCode, invalidationReason }: directoryStore.ShownKey): string | null {
  const code = PROVISIONER_CODES.find((known) => known === problemCode);
  return problem !== null && code ? PROBLEMS[code] : (problem ?? invalidationReason);
}

function invalidQuery(problems: readonly Problem[]): DomainError {
  const message = problems.map(({ detail }) => detail).join("; ");
  return new DomainError("invalid", "gateway_key.invalid", message, { problems });
}
