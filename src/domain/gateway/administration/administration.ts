// Operator actions on gateway keys: create or replace one key, or reconcile all. keys.ts and reconciler.ts do the work,
// under the same leases in every process. These actions wait until the work is done, and their errors include what the gateway
// or the executable reported.
import { toRfc3339 } from "../../../platform/clock.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { User } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { GatewayDependencies } from "../dependencies.ts";
import { type GatewayKeys, gatewayOff } from "../keys/keys.ts";
import { REVOCATION_BATCH, type Reconciled, type Reconciler } from "../keys/reconciler.ts";
import * as store from "../keys/store.ts";
import { ProvisionerError } from "../provisioners/provisioner.ts";
import type { KeyDirectory, KeyView } from "./key-directory.ts";
import { makeAllDue } from "./key-directory-store.ts";

export interface KeyOperation {
  actor: Actor;
  user: User;
}

export interface KeyResult {
  /** whether the user now has a different key */
  changed: boolean;
  key: KeyView;
}

export interface ReconcileOptions {
  actor: Actor;
  /** stops the run once the attempts in progress are done */
  signal: AbortSignal;
  /** called once at the start with the numbers of due keys and revocations */
  onBegin(due: Reconciled): void;
  /** called after each key */
  onKey(): void;
}

export class KeyAdministration {
  constructor(
    private readonly dependencies: GatewayDependencies,
    private readonly parts: {
      keys: GatewayKeys;
      directory: KeyDirectory;
      reconciler: Reconciler | undefined;
    },
  ) {}

  /**
   * Gives the user a working key, or reconciles the existing key when it is due.
   * @param manual ignores the retry delay after failures
   * @throws DomainError `gateway.off`, `gateway.no_access`, `gateway.key_missing`, `gateway.attempt_running`, and the
   *   errors of the provisioner
   */
  async ensure({ actor, user, manual }: KeyOperation & { manual: boolean }): Promise<KeyResult> {
    this.assertMayHaveKey(user);
    return await this.#settled(user, () => this.parts.keys.ensure({ actor, user, manual }));
  }

  /**
   * Replaces the user's key, or creates the first one.
   * @param version as in KeyChange
   * @throws as `ensure`; DomainError `gateway.not_rotated`
   */
  async rotate({
    actor,
    user,
    version,
  }: KeyOperation & { version?: string | undefined }): Promise<KeyResult> {
    this.assertMayHaveKey(user);
    const isReplaced = version !== undefined && this.#versionOf(user) !== version;
    const result = await this.#settled(user, () => this.parts.keys.rotate({ actor, user, version }));
    if (!result.changed && !isReplaced) throw keyNotRotated(result.key);
    return result;
  }

  /** @throws DomainError `gateway.off`, `gateway.no_access`, like `ensure` and `rotate` */
  assertMayHaveKey({ email, status }: User): void {
    if (!this.dependencies.mode) throw gatewayOff();
    if (status === "active") return;
    throw new DomainError("conflict", "gateway.no_access", `${email} is ${status} and cannot have a key`);
  }

  /**
   * Reconciles every stored key and carries out pending revocations. Marks everything as due first, so that the service
   * completes what this process does not finish.
   * @returns the numbers processed here
   * @throws DomainError `gateway.off`
   */
  async reconcile({ actor, signal, onBegin, onKey }: ReconcileOptions): Promise<Reconciled> {
    const { reconciler } = this.parts;
    if (!reconciler) throw gatewayOff();
    onBegin(await this.makeAllDue(actor));
    const sum = { keys: 0, revocations: 0 };
    let done: Reconciled;
    do {
      done = await reconciler.run(signal, onKey);
      sum.keys += done.keys;
      sum.revocations += done.revocations;
    } while (done.revocations === REVOCATION_BATCH && !signal.aborted);
    return sum;
  }

  /**
   * Makes every stored key and pending revocation due, so that the service reconciles them in the background.
   * @returns the numbers that are due
   * @throws DomainError `gateway.off`
   */
  async makeAllDue(actor: Actor): Promise<Reconciled> {
    const { db, clock, audit, mode } = this.dependencies;
    if (!mode) throw gatewayOff();
    const { organizationId } = actor;
    return await db.write((tx) => {
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
    await this.parts.keys.attempts?.drain(); // the response may arrive before the attempt is done
    const key = this.parts.directory.show(user);
    if (key.state !== "ready") throw keyNotCreated(key);
    return { changed: this.#versionOf(user) !== before, key };
  }

  #versionOf({ id }: User): string | undefined {
    return store.findKey(this.dependencies.db.read, id)?.credentialVersion;
  }
}

/** Shows the operator the provisioner's diagnosis, which users at workstations do not see. */
function failureFor({ email }: User, error: ProvisionerError): DomainError {
  const kind = error.kind === "forbidden" ? "conflict" : error.kind;
  return new DomainError(kind, error.reason, `${email} has no key: ${error.diagnosis}`, { cause: error });
}

function keyNotCreated({ email, state, problem, nextAttemptAtMs }: KeyView): DomainError {
  if (state === "recovering")
    return new DomainError(
      "unavailable",
      "gateway.attempt_running",
      `another process is trying to create a key for ${email}`,
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
    `the key of ${email} was not replaced: ${problem ?? "another process is working on it"}`,
  );
