// What an operator does with gateway keys: makes, replaces, revokes one, reconciles all. The work is that of keys.ts and
// reconciler.ts, under the same leases, whichever process asks; here it is waited for to its end, and its failures are told with
// what the gateway or the executable said.
import { toRfc3339 } from "../../../platform/clock.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { User } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { GatewayDependencies } from "../dependencies.ts";
import { type GatewayKeys, gatewayOff } from "../keys/keys.ts";
import { REVOCATION_BATCH, type Reconciled, type Reconciler } from "../keys/reconciler.ts";
import * as store from "../keys/store.ts";
import { ProvisionerError } from "../provisioners/provisioner.ts";
import { KeyDirectory, type KeyView } from "./key-directory.ts";
import { makeAllDue } from "./key-directory-store.ts";

export interface KeyOperation {
  actor: Actor;
  user: User;
}

export interface KeyResult {
  /** whether the user has another key than before */
  changed: boolean;
  key: KeyView;
}

export interface ReconcileOptions {
  actor: Actor;
  /** ends it after the attempts that are under way */
  signal: AbortSignal;
  /** told beforehand how many keys there are to look after */
  onBegin(due: Reconciled): void;
  /** told after each */
  onKey(): void;
}

export class KeyAdministration extends KeyDirectory {
  constructor(
    private readonly dependencies: GatewayDependencies,
    private readonly parts: { keys: GatewayKeys; reconciler: Reconciler | undefined },
  ) {
    super(dependencies.db);
  }

  /**
   * Gives the user a working key, or looks after the one there is when that is due.
   * @param manual passes over waits after failures
   * @throws DomainError `gateway.off`, `gateway.no_access`, `gateway.key_missing`, `gateway.attempt_running`, and what a
   *   provisioner may fail with
   */
  async ensure({ actor, user, manual }: KeyOperation & { manual: boolean }): Promise<KeyResult> {
    this.checkWish(user);
    return await this.#settled(user, () => this.parts.keys.ensure({ actor, user, manual }));
  }

  /** Replaces the user's key, or makes the first. @throws as `ensure`; DomainError `gateway.not_rotated` */
  async rotate({ actor, user }: KeyOperation): Promise<KeyResult> {
    this.checkWish(user);
    const result = await this.#settled(user, () => this.parts.keys.rotate({ actor, user }));
    if (!result.changed) throw keyNotRotated(result.key);
    return result;
  }

  /** @throws DomainError `gateway.off`, `gateway.no_access`: what `ensure` and `rotate` refuse */
  checkWish({ email, status }: User): void {
    if (!this.dependencies.mode) throw gatewayOff();
    if (status === "active") return;
    throw new DomainError("conflict", "gateway.no_access", `${email} is ${status}, and so may have no key`);
  }

  /** Takes the user's key away; it is revoked at the gateway by the service. @returns whether there was one */
  revoke(wish: KeyOperation): Promise<boolean> {
    return this.parts.keys.revoke(wish);
  }

  /**
   * Looks after every key that is stored, and carries out what is to be revoked. Everything is made due first: what this process
   * does not come to, the service does.
   * @returns how many were looked after here
   * @throws DomainError `gateway.off`
   */
  async reconcile({ actor, signal, onBegin, onKey }: ReconcileOptions): Promise<Reconciled> {
    const { reconciler } = this.parts;
    if (!reconciler) throw gatewayOff();
    onBegin(await this.#makeAllDue(actor));
    const sum = { keys: 0, revocations: 0 };
    let done: Reconciled;
    do {
      done = await reconciler.run(signal, onKey);
      sum.keys += done.keys;
      sum.revocations += done.revocations;
    } while (done.revocations === REVOCATION_BATCH && !signal.aborted);
    return sum;
  }

  #makeAllDue(actor: Actor): Promise<Reconciled> {
    const { db, clock, audit } = this.dependencies;
    const { organizationId } = actor;
    return db.write((tx) => {
      const after = makeAllDue(tx, { organizationId, nowMs: clock.nowMs() });
      const action = "gateway_key.reconcile";
      audit.record(tx, { actor, action, target: organizationId, after: { ...after } });
      return after;
    }, "gateway");
  }

  async #settled(user: User, work: () => Promise<unknown>): Promise<KeyResult> {
    const before = this.#versionOf(user);
    try {
      await work();
    } catch (error) {
      throw error instanceof ProvisionerError ? failureFor(user, error) : error;
    }
    await this.parts.keys.attempts?.drain(); // the answer may have come before the work was done
    const key = this.show(user);
    if (key.state !== "ready") throw keyNotCreated(key);
    return { changed: this.#versionOf(user) !== before, key };
  }

  #versionOf({ id }: User): string | undefined {
    return store.findKey(this.dependencies.db.read, id)?.credentialVersion;
  }
}

/** The operator is told what people at workstations are not. It is the user who is not let in there. */
function failureFor({ email }: User, error: ProvisionerError): DomainError {
  const kind = error.kind === "forbidden" ? "conflict" : error.kind;
  return new DomainError(kind, error.reason, `${email} has no key: ${error.diagnosis}`, { cause: error });
}

function keyNotCreated({ email, state, problem, nextAttemptAtMs }: KeyView): DomainError {
  if (state === "recovering")
    return new DomainError(
      "unavailable",
      "gateway.attempt_running",
      `an attempt to make a key for ${email} is under way in another process`,
    );
  const next = nextAttemptAtMs === null ? "" : `; the next attempt is at ${toRfc3339(nextAttemptAtMs)}`;
  const message = `${email} has no key: ${problem ?? `it is ${state}`}${next}`;
  return new DomainError("unavailable", "gateway.key_missing", message, {
    hint: "to try now: add --manual",
  });
}

const keyNotRotated = ({ email, problem }: KeyView): DomainError =>
  new DomainError(
    "upstream",
    "gateway.not_rotated",
    `the key of ${email} is still the one before: ${problem ?? "another process is at work on it"}`,
  );
