// The keys that seal values in the database: lists them with their values, creates the next one, and seals older values again under
// it. platform/crypto/sealing-keys.ts has the key files. An old key stays until an operator removes it, because earlier copies of
// the database need it.
import type { Clock } from "../../platform/clock.ts";
import { countText } from "../../platform/count-text.ts";
import type { Sealing, SealingKeyView } from "../../platform/crypto/sealing.ts";
import type { Connection, Db, Tx } from "../../platform/database/database.ts";
import { DomainError, invariant } from "../../platform/errors.ts";
import { changeJob } from "../../platform/scheduler/store.ts";
import type { Audit } from "../audit/service.ts";
import type { Actor } from "../shared/actor.ts";
import type { SealedSecrets } from "../shared/sealed-secrets.ts";

/** Name of the service's job that calls `rewrap`. */
export const REWRAP_JOB = "sealing-rewrap";
/** Number of secrets to seal again in one write, because other writes wait for it. */
export const REWRAP_BATCH = 200;

export interface SealingKeyState {
  id: string;
  /** `old`: opens values but seals none. `missing`: values need it, but it is not available */
  state: "active" | "old" | "missing";
  source: "file" | "configuration" | null;
  path: string | null;
  /** number of values sealed under it, by kind, including kinds without any */
  secrets: Readonly<Record<string, number>>;
  total: number;
}

export interface Rewrapped {
  rewrapped: number;
  /** number of values that could not be opened and are unchanged */
  unreadable: number;
}

export interface SealingKeysDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
  sealing: Sealing;
  /** all sealed values, of every area */
  secrets: readonly SealedSecrets[];
  /**
   * Requires a confirmed browser session before the key file is created, because no rollback removes the file; access provides it.
   * @throws DomainError `access.confirmation_needed`, `access.second_factor_enrollment_needed`
   */
  requireConfirmation(connection: Connection, actor: Actor): void;
}

export class SealingKeys {
  constructor(private readonly dependencies: SealingKeysDependencies) {}

  /** @returns missing keys first, then the available ones, oldest first */
  list(): SealingKeyState[] {
    const { db, sealing, secrets } = this.dependencies;
    const counts = secrets.map(({ noun, count }) => [noun, count(db.read)] as const);
    const keys = sealing.keys();
    const isAvailable = (id: string): boolean => keys.some((key) => key.id === id);
    const used = new Set(counts.flatMap(([, count]) => [...count.keys()]));
    const missing = [...used].filter((id) => !isAvailable(id));
    const activeId = sealing.activeKey().id;
    const stateOf = (key: Pick<SealingKeyState, "id" | "state" | "source" | "path">): SealingKeyState => {
      const amounts = counts.map(([noun, count]) => [noun, count.get(key.id) ?? 0] as const);
      const total = amounts.reduce((sum, [, amount]) => sum + amount, 0);
      return { ...key, secrets: Object.fromEntries(amounts), total };
    };
    return [
      ...missing.map((id) => stateOf({ id, state: "missing", source: null, path: null })),
      ...keys.map((key) => stateOf({ ...placeOf(key), state: key.id === activeId ? "active" : "old" })),
    ];
  }

  /** @returns the ids of the keys that values of that database need */
  idsIn(connection: Connection): string[] {
    const ids = new Set(this.dependencies.secrets.flatMap(({ count }) => [...count(connection).keys()]));
    return [...ids].sort();
  }

  /**
   * @returns the file that `rotate` would create
   * @throws DomainError as `rotate`
   */
  checkRotate(): string {
    const missing = this.list().find(({ state }) => state === "missing");
    if (missing) throw keyMissing(missing);
    return this.dependencies.sealing.nextPath();
  }

  /**
   * Creates a key file that seals all new values, in every process; the service then seals older values again under it.
   * @param replaces id of the key that the caller saw in use; if another key is in use, nothing is created
   * @returns the key in use
   * @throws DomainError `sealing.key_provided`, `sealing.key_missing`, `sealing.names_foreign`; those of `requireConfirmation`
   */
  async rotate(actor: Actor, replaces?: string): Promise<SealingKeyState> {
    this.checkRotate();
    const { db, clock, audit, sealing } = this.dependencies;
    // Runs under the write lock, so that every later writer sees the new file.
    const id = await db.write((tx) => {
      this.dependencies.requireConfirmation(tx, actor);
      const before = { id: sealing.activeKey().id };
      if (replaces !== undefined && replaces !== before.id) return before.id;
      const after = { id: sealing.addKey().id };
      changeJob(tx, REWRAP_JOB, { nextRunAtMs: clock.nowMs() });
      audit.record(tx, { actor, action: "sealing_key.rotate", target: after.id, before, after });
      return after.id;
    }, "jobs");
    const key = this.list().find((one) => one.id === id);
    invariant(key, "the key in use is available");
    return key;
  }

  /** Seals older values again, one batch per write, until all are done or the signal aborts. */
  async rewrap(actor: Actor, signal: AbortSignal): Promise<Rewrapped> {
    const { db, sealing, secrets } = this.dependencies;
    const activeId = sealing.activeKey().id;
    const old = new Set(sealing.keys().map(({ id }) => id));
    old.delete(activeId);
    const done = { rewrapped: 0, unreadable: 0 };
    for (const kind of secrets) {
      for (const from of kind.count(db.read).keys()) {
        if (old.has(from)) await this.#rewrapKind(kind, { actor, from, signal, done });
      }
    }
    return done;
  }

  async #rewrapKind(
    kind: SealedSecrets,
    { from, signal, done, actor }: { actor: Actor; from: string; signal: AbortSignal; done: Rewrapped },
  ): Promise<void> {
    let after: string | undefined;
    do {
      if (signal.aborted) return;
      const part = { from, after, limit: REWRAP_BATCH };
      const step = await this.dependencies.db.write((tx) => {
        const made = kind.rewrap(tx, part);
        if (made.rewrapped > 0) this.#record(tx, { actor, kind, from, rewrapped: made.rewrapped });
        return made;
      }, kind.topic);
      done.rewrapped += step.rewrapped;
      done.unreadable += step.unreadable;
      after = step.next;
    } while (after !== undefined);
  }

  #record(
    tx: Tx,
    { actor, kind, from, rewrapped }: { actor: Actor; kind: SealedSecrets; from: string; rewrapped: number },
  ): void {
    const target = this.dependencies.sealing.activeKey().id;
    const after = { id: target, secrets: kind.noun, rewrapped };
    this.dependencies.audit.record(tx, {
      actor,
      action: "sealing_key.rewrap",
      target,
      before: { id: from },
      after,
    });
  }
}

const placeOf = ({ id, path }: SealingKeyView): Pick<SealingKeyState, "id" | "source" | "path"> => ({
  id,
  source: path === undefined ? "configuration" : "file",
  path: path ?? null,
});

const keyMissing = ({ id, total }: SealingKeyState): DomainError =>
  new DomainError(
    "conflict",
    "sealing.key_missing",
    `the sealing key ${id} is not available, and ${countText(total, "secret is", "secrets are")} sealed with it`,
    {
      hint: "name the configuration of the service with --config, or put the key file back; if the key is lost, run signing-keys rotate and keys reconcile",
    },
  );
