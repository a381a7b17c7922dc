// Erases a person: removes every row about the person and replaces the person with a pseudonym in the audit log. Each area erases
// its own rows (shared/personal-data.ts). This file identifies the person, orders the steps and bounds the transactions.
import type { Clock } from "../../platform/clock.ts";
import type { Sealing } from "../../platform/crypto/sealing.ts";
import type { Db, Tx } from "../../platform/database/database.ts";
import { DomainError, type Problem } from "../../platform/errors.ts";
import { emailKey, type Identity, readEmail, type User } from "../identity/service.ts";
import type { Actor } from "../shared/actor.ts";
import {
  type ErasedRows,
  type ErasePersonalData,
  type OutsideData,
  type Person,
  pseudonymOf,
} from "../shared/personal-data.ts";
import type { RedactLog } from "./log.ts";

export interface ErasureDependencies {
  db: Db;
  clock: Clock;
  sealing: Pick<Sealing, "mac">;
  identity: Pick<Identity, "users" | "keysOfOthers">;
  log: RedactLog;
  /** in the order in which rows may be removed */
  areas: readonly ErasePersonalData[];
  outside: readonly OutsideData[];
}

/** The person to erase. */
export interface Wanted {
  /** undefined if the address never belonged to a user */
  user: User | undefined;
  person: Person;
}

export interface Erased {
  pseudonym: string;
  rows: ErasedRows;
  /** number of redacted entries of the audit log */
  auditEntries: number;
}

export interface Walk {
  signal?: AbortSignal;
  /** called with the number of audit entries read so far */
  advance?: (entries: number) => void;
}

/** Rolls back a transaction that only counts rows. */
class DryRunEnded extends Error {
  constructor(readonly rows: ErasedRows) {
    super("this is a dry run");
  }
}

export class Erasure {
  constructor(private readonly dependencies: ErasureDependencies) {}

  /**
   * @param reference an id, or an address in any letter case, which need not belong to a user
   * @throws DomainError `user.not_found` for an id; the errors of `Users.remove` for a user who must not be removed
   */
  find(actor: Actor, reference: string): Wanted {
    const { users } = this.dependencies.identity;
    const { organizationId } = actor;
    const user = reference.includes("@")
      ? this.#holderOf(organizationId, reference)
      : users.show(organizationId, reference);
    if (user) users.checkRemove(actor, user.id);
    return { user, person: this.#personOf(organizationId, user, reference) };
  }

  /** @returns undefined for a well-formed address that never belonged to a user */
  #holderOf(organizationId: string, address: string): User | undefined {
    const { users } = this.dependencies.identity;
    const problems: Problem[] = [];
    readEmail(address, problems);
    return problems.length === 0
      ? users.findByAddress(organizationId, address)
      : users.find(organizationId, address);
  }

  /** @returns the result of `erase`, without changing anything @throws DomainError `erasure.nothing_found` */
  async plan(actor: Actor, { person }: Wanted, walk: Walk = {}): Promise<Erased> {
    const { ids } = await this.dependencies.log.mentions(person, walk);
    const rows = await this.#countRows(actor, person);
    refuseNothing(person, rows, ids.length);
    return { pseudonym: person.pseudonym, rows, auditEntries: ids.length };
  }

  /**
   * Removes the user first, so that access ends immediately. After an interruption the row of the user still exists, and the call can
   * be repeated.
   * @throws DomainError `erasure.nothing_found`; the errors of `Users.remove`
   */
  async erase(actor: Actor, { user, person }: Wanted, walk: Walk = {}): Promise<Erased> {
    if (user) await this.dependencies.identity.users.remove(actor, user.id);
    const { ids, upTo } = await this.dependencies.log.mentions(person, walk);
    if (!user) refuseNothing(person, await this.#countRows(actor, person), ids.length);
    const outside = Object.assign({}, ...this.dependencies.outside.map((data) => data.erase(person)));
    const rest = [...ids];
    let auditEntries = 0;
    while (rest.length > this.dependencies.log.redactedMax) {
      const batch = rest.splice(0, this.dependencies.log.redactedMax);
      const part = { actor, person, ids: batch, summary: { complete: false } };
      auditEntries += await this.dependencies.db.write((tx) => this.dependencies.log.redact(tx, part));
    }
    const last = await this.dependencies.db.write((tx) =>
      this.#finish(tx, { actor, person, rest, upTo, outside }),
    );
    return { pseudonym: person.pseudonym, rows: last.rows, auditEntries: auditEntries + last.redacted };
  }

  #finish(tx: Tx, { actor, person, rest, upTo, outside }: Last): { rows: ErasedRows; redacted: number } {
    const rows = { ...outside, ...this.#eraseRows(tx, actor, person) };
    const { log } = this.dependencies;
    const ids = [...rest, ...log.since(tx, person, upTo)];
    let redacted = 0;
    // By now, more entries may exist than one erasure can redact.
    while (ids.length > log.redactedMax)
      redacted += log.redact(tx, {
        actor,
        person,
        ids: ids.splice(0, log.redactedMax),
        summary: { complete: false },
      });
    redacted += log.redact(tx, { actor, person, ids, summary: { complete: true, ...rows } });
    return { rows, redacted };
  }

  #eraseRows(tx: Tx, actor: Actor, person: Person): ErasedRows {
    const nowMs = this.dependencies.clock.nowMs();
    return Object.assign({}, ...this.dependencies.areas.map((erase) => erase(tx, { actor, person, nowMs })));
  }

  async #countRows(actor: Actor, person: Person): Promise<ErasedRows> {
    const outside = Object.assign({}, ...this.dependencies.outside.map((data) => data.count(person)));
    try {
      return await this.dependencies.db.write((tx): ErasedRows => {
        throw new DryRunEnded(this.#eraseRows(tx, actor, person));
      }, "unobserved");
    } catch (error) {
      if (error instanceof DryRunEnded) return { ...outside, ...error.rows };
      throw error;
    }
  }

  /** An address that also belonged to another user does not count as a mention of this person. */
  #personOf(organizationId: string, user: User | undefined, reference: string): Person {
    const { sealing, identity, log } = this.dependencies;
    const names = user && log.namesOf(organizationId, user.id);
    const known = user ? [user.email, ...(names?.addresses ?? [])] : [reference];
    const keys = [...new Set(known.filter((name) => name.includes("@")).map(emailKey))];
    const others = new Set(identity.keysOfOthers(organizationId, { keys, userId: user?.id }));
    return {
      organizationId,
      userId: user?.id,
      addresses: keys.filter((key) => !others.has(key)),
      userNames: [...(names?.userNames ?? [])],
      pseudonym: pseudonymOf(sealing, user?.id ?? emailKey(reference)),
    };
  }
}

interface Last {
  actor: Actor;
  person: Person;
  /** ids of the entries that are not redacted yet */
  rest: readonly number[];
  /** id of the last entry that was read */
  upTo: number;
  /** counts of data that was erased outside the database */
  outside: ErasedRows;
}

function refuseNothing({ addresses }: Person, rows: ErasedRows, auditEntries: number): void {
  if (auditEntries > 0 || Object.values(rows).some((count) => count > 0)) return;
  const name = addresses[0] ?? "this user";
  throw new DomainError("not_found", "erasure.nothing_found", `there is no data about ${name}`, {
    hint: "see `quartermaster users list`; erased users no longer have an address",
  });
}
