// A world with identity: fast hashing, recorded real ends of logins, functions that create users, and functions that read the
// database directly.
import { join } from "node:path";
import { asc, eq } from "drizzle-orm";
import { endLogins } from "../../src/domain/access/logins/end-logins.ts";
import { removeFactors } from "../../src/domain/access/second-factor/factor-reset.ts";
import { forgetGuesses } from "../../src/domain/access/sign-in/password-guesses.ts";
import { auditEntries } from "../../src/domain/audit/tables.ts";
import { createKeyRetirement } from "../../src/domain/gateway/keys/key-retirement.ts";
import { Idempotency } from "../../src/domain/idempotency/service.ts";
import type { KeyLoss } from "../../src/domain/identity/dependencies.ts";
import type { User } from "../../src/domain/identity/model.ts";
import { createIdentity, type Identity, type IdentitySettings } from "../../src/domain/identity/service.ts";
import { users } from "../../src/domain/identity/tables.ts";
import type { Actor } from "../../src/domain/shared/actor.ts";
import { removeExpectations } from "../../src/domain/sso/identities/expected-store.ts";
import { createRemoveIdentities } from "../../src/domain/sso/identities/unlinking.ts";
import { createPasswords } from "../../src/platform/crypto/passwords.ts";
import { openSealing } from "../../src/platform/crypto/sealing.ts";
import { DomainError } from "../../src/platform/errors.ts";
import { Secret } from "../../src/platform/secret.ts";
import { createWorld, type World } from "./world.ts";

export const PASSWORD = new Secret("correct horse battery");
export const FAST_HASHING = createPasswords({ cost: { memoryKib: 8, passes: 1 } });

/** of one user, or of several */
export interface Ending {
  userId?: string;
  userIds?: readonly string[];
  reason: string;
  nowMs: number;
}

export interface Loss {
  userId: string;
  /** why the gateway key was revoked, or `factors` */
  lost: KeyLoss | "factors";
}

export interface IdentityWorld extends World {
  identity: Identity;
  /** calls of endLogins, oldest first */
  endings: Ending[];
  /** calls of retireGatewayKey and removeFactors, oldest first */
  losses: Loss[];
  operator: Actor;
  /** runs once, while the next password is being hashed */
  whileHashing: (() => Promise<unknown>) | undefined;
  /** creates a user with PASSWORD; an active `member` by default */
  addUser(email: string, row?: Partial<typeof users.$inferInsert>): Promise<User>;
  /** writes the row directly */
  setUser(id: string, row: Partial<typeof users.$inferInsert>): Promise<void>;
  /** actions of the audit log, oldest first */
  audited(): string[];
}

export const actorOf = ({ id, email, organizationId }: User): Actor => ({
  kind: "user",
  id,
  label: email,
  organizationId,
});

/** @returns the reason of the DomainError; the result if there was none */
export async function reasonOf(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError) return error.reason;
    throw error;
  }
}

/** @returns the stored responses for repeated requests */
export const idempotencyOf = (world: World): Idempotency =>
  new Idempotency({
    ...world,
    sealing: openSealing({ directory: join(world.directory, "keys"), ids: world.ids }),
  });

export async function createIdentityWorld(settings: Partial<IdentitySettings> = {}): Promise<IdentityWorld> {
  const world = await createWorld();
  const endings: Ending[] = [];
  const losses: Loss[] = [];
  const retireGatewayKey = createKeyRetirement(world);
  const hooks: Pick<IdentityWorld, "whileHashing"> = { whileHashing: undefined };
  const hash = async (password: Secret) => {
    const { whileHashing } = hooks;
    hooks.whileHashing = undefined;
    await whileHashing?.();
    return FAST_HASHING.hash(password);
  };
  const identity = createIdentity({
    ...world,
    passwords: { ...FAST_HASHING, hash },
    idempotency: idempotencyOf(world),
    endLogins: (tx, ending) => {
      endings.push(ending);
      endLogins(tx, ending);
    },
    retireGatewayKey: (tx, retirement) => {
      losses.push({ userId: retirement.userId, lost: retirement.reason });
      retireGatewayKey(tx, retirement);
    },
    spendLink: () => {},
    forgetGuesses,
    removeFactors: (tx, userId) => {
      losses.push({ userId, lost: "factors" });
      removeFactors(tx, userId);
    },
    removeIdentities: createRemoveIdentities(world),
    removeExpectations,
    settings: {
      mode: "password",
      invites: settings.mode !== "oidc",
      hasProvider: false,
      groupRoleMappings: {},
      ...settings,
    },
  });
  const operator: Actor = { ...world.system, kind: "operator", label: "root" };
  const setUser = async (id: string, row: Partial<typeof users.$inferInsert>) => {
    await world.db.write((tx) => void tx.update(users).set(row).where(eq(users.id, id)).run());
  };
  return Object.assign(hooks, {
    ...world,
    identity,
    endings,
    losses,
    operator,
    setUser,
    async addUser(email: string, row: Partial<typeof users.$inferInsert> = {}) {
      const { user } = await identity.users.create(operator, { email, role: "member", password: PASSWORD });
      if (Object.keys(row).length > 0) await setUser(user.id, row);
      return identity.users.show(world.organizationId, user.id);
    },
    audited: () =>
      world.db.read
        .select({ action: auditEntries.action })
        .from(auditEntries)
        .orderBy(asc(auditEntries.id))
        .limit(1_000)
        .all()
        .map(({ action }) => action),
  });
}
