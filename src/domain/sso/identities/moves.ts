// Prepares the users of one provider for its replacement. Their links stay without effect; the first sign-in at the new provider
// creates a new link, by the external id of SCIM or by the verified address of a user who is expected there.
import { type Clock, DAY_MS, toRfc3339 } from "../../../platform/clock.ts";
import type { Connection, Db } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Audit } from "../../audit/service.ts";
import type { Identity, User } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import * as expected from "./expected-store.ts";
import * as identities from "./identities-store.ts";

export const EXPECTED_TTL_MS = 30 * DAY_MS;
const USERS_PER_WRITE = 200;

export interface MovesDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
  identity: Pick<Identity, "findUserById">;
  /** @returns whether SCIM gave the user an external id */
  hasExternalId(connection: Connection, organizationId: string, userId: string): boolean;
}

export interface Move {
  fromIssuer: string;
  toIssuer: string;
  by: "email" | "external_id";
}

export interface MovePlan {
  /** users who will be linked at their next sign-in: by external id in any case, by address after the move */
  prepared: readonly User[];
  /** users already linked at the new provider */
  linkedBefore: number;
  /** users whom the operator must link manually: the protected administrator, and with external ids those without one */
  left: readonly User[];
}

export class IdentityMoves {
  constructor(private readonly dependencies: MovesDependencies) {}

  /**
   * Changes nothing.
   * @throws DomainError `identity.same_issuer`, `identity.not_found` if no user is linked at the former provider
   */
  plan({ organizationId }: Pick<Actor, "organizationId">, move: Move): MovePlan {
    const { fromIssuer, toIssuer } = move;
    if (fromIssuer === toIssuer)
      throw new DomainError("invalid", "identity.same_issuer", "both issuers are the same", {
        hint: "name the former provider with --from-issuer, and the new one with --to-issuer or in the configuration",
      });
    const users = this.#usersAt(fromIssuer, organizationId);
    if (users.length === 0)
      throw new DomainError("not_found", "identity.not_found", `no user is linked to ${fromIssuer}`, {
        hint: "see the issuers in `quartermaster identities list`; they are compared exactly",
      });
    const { read } = this.dependencies.db;
    const isLinked = ({ id: userId }: User) =>
      identities.findOfUser(read, { userId, issuer: toIssuer }) !== undefined;
    const open = users.filter((user) => !isLinked(user));
    const canMove = (user: User) => !user.protected && this.#isKnown(user, move);
    return {
      prepared: open.filter(canMove),
      linkedBefore: users.length - open.length,
      left: open.filter((user) => !canMove(user)),
    };
  }

  /**
   * Expects the users at the new provider for EXPECTED_TTL_MS. With external ids there is nothing to do. Repeating it only restarts
   * the time.
   * @throws DomainError like `plan`
   */
  async move(actor: Actor, move: Move): Promise<MovePlan> {
    const plan = this.plan(actor, move);
    if (move.by === "external_id") return plan;
    for (let from = 0; from < plan.prepared.length; from += USERS_PER_WRITE)
      await this.#expect(actor, move, plan.prepared.slice(from, from + USERS_PER_WRITE));
    return plan;
  }

  /** @returns how many expired expectations were removed */
  sweep(): Promise<number> {
    const { db, clock } = this.dependencies;
    return db.write((tx) => expected.removeExpired(tx, clock.nowMs()), "access");
  }

  #expect(actor: Actor, { fromIssuer, toIssuer }: Move, users: readonly User[]): Promise<void> {
    const { db, clock, audit } = this.dependencies;
    return db.write((tx) => {
      const expiresAtMs = clock.nowMs() + EXPECTED_TTL_MS;
      const after = { issuer: toIssuer, former_issuer: fromIssuer, expires_at: toRfc3339(expiresAtMs) };
      for (const { id: userId } of users) {
        expected.expect(tx, { userId, issuer: toIssuer, expiresAtMs });
        audit.record(tx, { actor, action: "identity.expect", target: userId, after });
      }
    }, "access");
  }

  #isKnown({ id, organizationId }: User, { by }: Move): boolean {
    return by === "email" || this.dependencies.hasExternalId(this.dependencies.db.read, organizationId, id);
  }

  /** @returns the users linked at a provider, excluding removed ones */
  #usersAt(issuer: string, organizationId: string): User[] {
    const { db, identity } = this.dependencies;
    const found: User[] = [];
    let after: identities.IdentityRow | undefined;
    do {
      const rows = identities.list(db.read, { issuer, after, limit: USERS_PER_WRITE });
      for (const { userId } of rows) {
        const user = identity.findUserById(db.read, userId);
        if (user?.organizationId === organizationId && user.status !== "removed") found.push(user);
      }
      after = rows.at(-1);
    } while (after !== undefined);
    return found;
  }
}
