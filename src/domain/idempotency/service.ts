// Creates something once, however often the request is sent. The response is stored in the transaction of the creation, so a
// crash or a concurrent repetition cannot create it twice. API-4; draft-ietf-httpapi-idempotency-key-header.
import { type Clock, DAY_MS } from "../../platform/clock.ts";
import type { Sealing } from "../../platform/crypto/sealing.ts";
import type { Connection, Db, Tx } from "../../platform/database/database.ts";
import { DomainError, invariant } from "../../platform/errors.ts";
import { sha256Hex } from "../../platform/ids.ts";
import { runInBatches } from "../../platform/steps.ts";
import type { Actor } from "../shared/actor.ts";
import { type SealedSecrets, sealedRows } from "../shared/sealed-secrets.ts";
import * as store from "./store.ts";

/** How long a repetition gets the same response. */
export const RESPONSE_RETENTION_MS = DAY_MS;
/** Maximum characters of a key. */
export const KEY_CHARACTERS_MAX = 255;
/** Maximum number of stored responses for one caller. */
export const RESPONSES_PER_CALLER_MAX = 1_000;
/** Maximum bytes of one stored response. */
export const RESPONSE_BYTES_MAX = 16 * 1024;
const SWEEP_BATCH_ROWS = 500;

const KEY = new RegExp(`^[\\x21-\\x7e]{1,${KEY_CHARACTERS_MAX}}$`);

/** A request that may be a repetition. */
export interface Repeatable {
  /** the caller's key; undefined if each request creates something */
  key: string | undefined;
  /** the operation and its whole input; a different request with the same key is refused */
  request: readonly unknown[];
}

/** Serializes a response, and parses it again. */
export interface ResponseForm<T> {
  write(response: T): string;
  read(text: string): T;
}

export interface IdempotencyDependencies {
  db: Db;
  clock: Clock;
  sealing: Sealing;
}

/** The stored responses of every area. */
export class Idempotency {
  constructor(private readonly dependencies: IdempotencyDependencies) {}

  /**
   * Creates something in the transaction of the caller, or returns the response of the earlier request with the same key. Each
   * caller has separate keys. Errors are not stored.
   * @throws DomainError `idempotency.key_invalid`, `idempotency.key_reused`, `idempotency.too_many_keys`; errors of `create`
   */
  once<T>(tx: Tx, actor: Actor, { key, request, form, create }: Repeatable & Once<T>): T {
    if (key === undefined) return create();
    const { id, callerId, requestDigest } = identified(actor, { key, request });
    const kept = this.#find(tx, { id, requestDigest });
    if (kept) return form.read(kept);
    const { clock, sealing } = this.dependencies;
    const nowMs = clock.nowMs();
    refuseMore(tx, { callerId, nowMs });
    const response = create();
    const text = form.write(response);
    invariant(Buffer.byteLength(text) <= RESPONSE_BYTES_MAX, "a stored response is small");
    const sealedResponse = sealing.seal(text, contextOf({ id }));
    const expiresAtMs = nowMs + RESPONSE_RETENTION_MS;
    store.put(tx, { id, callerId, requestDigest, sealedResponse: sealedResponse, expiresAtMs });
    return response;
  }

  /**
   * For work that cannot run in a transaction: the caller calls this first, does the work, and records its response with `once`.
   * @returns the response of the earlier request with the same key; undefined if there is none and one can be stored
   * @throws DomainError `idempotency.key_invalid`, `idempotency.key_reused`, `idempotency.too_many_keys`
   */
  find<T>(actor: Actor, { key, request, form }: Repeatable & Pick<Once<T>, "form">): T | undefined {
    if (key === undefined) return undefined;
    const { callerId, ...wanted } = identified(actor, { key, request });
    const kept = this.#find(this.dependencies.db.read, wanted);
    if (kept !== undefined) return form.read(kept);
    refuseMore(this.dependencies.db.read, { callerId, nowMs: this.dependencies.clock.nowMs() });
    return undefined;
  }

  /** @returns the text of the stored response */
  #find(
    connection: Connection,
    { id, requestDigest }: Pick<store.ResponseRow, "id" | "requestDigest">,
  ): string | undefined {
    const { clock, sealing } = this.dependencies;
    const kept = store.findOpen(connection, { id, nowMs: clock.nowMs() });
    if (kept && kept.requestDigest !== requestDigest) throw keyReused();
    return kept && sealing.open(kept.sealedResponse, contextOf(kept));
  }

  /** Removes expired responses, a batch in each transaction. @returns how many */
  async sweep(signal: AbortSignal): Promise<number> {
    const { db, clock } = this.dependencies;
    const limit = SWEEP_BATCH_ROWS;
    const slice = { nowMs: clock.nowMs(), limit };
    const batch = () => db.write((tx) => store.removeExpired(tx, slice), "unobserved");
    return await runInBatches(batch, { limit, signal });
  }
}

interface Once<T> {
  form: ResponseForm<T>;
  create(): T;
}

/** @throws DomainError `idempotency.key_invalid` */
function identified(actor: Actor, { key, request }: Repeatable & { key: string }) {
  checkKey(key);
  invariant(actor.id !== null, "only a user sends a key");
  const requestDigest = sha256Hex(JSON.stringify(request));
  return { id: sha256Hex(`${actor.id}\n${key}`), callerId: actor.id, requestDigest };
}

const contextOf = ({ id }: Pick<store.ResponseRow, "id">): string => `idempotent-answer:${id}`;

function checkKey(key: string): void {
  if (KEY.test(key)) return;
  const detail = `Idempotency-Key must have 1 to ${KEY_CHARACTERS_MAX} visible ASCII characters and no spaces; a new UUID for each request is a good key`;
  throw new DomainError("invalid", "idempotency.key_invalid", detail);
}

/** @throws DomainError `idempotency.too_many_keys` */
function refuseMore(connection: Connection, caller: { callerId: string; nowMs: number }): void {
  const { total, firstExpiresAtMs } = store.openOf(connection, caller);
  if (total < RESPONSES_PER_CALLER_MAX) return;
  const retryAfterSeconds = Math.ceil((firstExpiresAtMs - caller.nowMs) / 1_000);
  const message = `at most ${RESPONSES_PER_CALLER_MAX} responses are stored for this caller; try again when one has expired, or send no Idempotency-Key`;
  throw new DomainError("too_many", "idempotency.too_many_keys", message, { retryAfterSeconds });
}

const keyReused = (): DomainError =>
  new DomainError(
    "unverified",
    "idempotency.key_reused",
    "this Idempotency-Key was used for another request in the last 24 hours; send a new key with a new request",
  );

/** @returns the stored responses, for the replacement of the sealing key */
export const idempotentSecrets = ({ sealing }: { sealing: Sealing }): SealedSecrets =>
  sealedRows({
    noun: "idempotent_answers",
    topic: "unobserved",
    sealing,
    store: store.sealedResponses,
    contextOf,
  });
