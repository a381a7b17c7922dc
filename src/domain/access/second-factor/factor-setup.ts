// Sets up a factor: creates what the page shows, and checks the response. Nothing is stored between the two steps: the form
// carries the sealed secret of an authenticator app, bound to the user and to the session or sign-in.
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Tx } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import { Secret } from "../../../platform/secret.ts";
import type { Audit } from "../../audit/service.ts";
import type { Identity, User } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import { appUri, createAppSecret, stepOf } from "./authenticator-app.ts";
import { codeMismatch, enrollmentOver, passkeyKnown, passkeyRefused, tooManyPasskeys } from "./errors.ts";
import {
  ATTEMPT_TTL_MS,
  createRecoveryCodes,
  type FactorKind,
  formatRecoveryCode,
  PASSKEYS_PER_USER_MAX,
  readCode,
  readPasskeyName,
  recoveryCodeHash,
} from "./model.ts";
import { creationOptions, verifyCreation } from "./passkeys.ts";
import * as store from "./second-factor-store.ts";
import { appContext, type SecondFactors, type SecondFactorsDependencies } from "./second-factors.ts";

export interface FactorSetupDependencies extends Omit<SecondFactorsDependencies, "limits"> {
  audit: Audit;
  identity: Pick<Identity, "findOrganization">;
  factors: Pick<SecondFactors, "challenges" | "party" | "has">;
}

/** The user who sets up a factor. */
export interface SetupHolder {
  user: Pick<User, "id" | "email">;
  /** id of the browser session or of the sign-in */
  holderId: string;
}

export interface AppSetup {
  /** base32, for typing */
  secret: Secret;
  /** for the QR code */
  uri: Secret;
  /** for the form */
  sealed: string;
}

export interface AddedFactor {
  kind: Exclude<FactorKind, "recovery_code">;
  /** whether this is the user's first factor */
  isFirst: boolean;
  /** new recovery codes to show once; empty if the user still has some */
  recoveryCodes: readonly Secret[];
}

/** Stores a checked factor in the caller's transaction. */
export type Add = (tx: Tx, actor: Actor) => AddedFactor;

const Sealed = Type.Object({ secret: Type.String(), expires_at_ms: Type.Integer() });

export class FactorSetup {
  constructor(private readonly dependencies: FactorSetupDependencies) {}

  startApp(holder: SetupHolder): AppSetup {
    const { db, clock, ids, sealing, identity } = this.dependencies;
    const secret = createAppSecret(ids);
    const content = { secret: secret.reveal(), expires_at_ms: clock.nowMs() + ATTEMPT_TTL_MS };
    const issuer = identity.findOrganization(db.read)?.name ?? "Quartermaster";
    const uri = appUri(secret, { issuer, account: holder.user.email });
    return { secret, uri, sealed: sealing.seal(JSON.stringify(content), setupContext(holder)) };
  }

  /**
   * @returns the same setup again, for a page that reports a wrong code
   * @throws DomainError `second_factor.setup_expired`
   */
  resumeApp(holder: SetupHolder, sealed: string): AppSetup {
    const secret = this.#open(holder, sealed);
    const issuer =
      this.dependencies.identity.findOrganization(this.dependencies.db.read)?.name ?? "Quartermaster";
    return { secret, uri: appUri(secret, { issuer, account: holder.user.email }), sealed };
  }

  /** @throws DomainError `second_factor.setup_expired`, `second_factor.code_wrong` */
  checkApp(holder: SetupHolder, { sealed, code }: { sealed: string; code: Secret }): Add {
    const { clock, sealing } = this.dependencies;
    const secret = this.#open(holder, sealed);
    const read = readCode(code);
    const isAppCode = read?.kind === "authenticator_app";
    const step = isAppCode ? stepOf(secret, read.code, clock.nowMs()) : undefined;
    if (step === undefined) throw codeMismatch();
    const userId = holder.user.id;
    const sealedSecret = sealing.seal(secret.reveal(), appContext(userId));
    return (tx, actor) =>
      this.#add(tx, actor, {
        userId,
        kind: "authenticator_app",
        add: () => {
          const row = { userId, sealedSecret, lastStep: step, createdAtMs: clock.nowMs(), usedAtMs: null };
          store.putApp(tx, row);
        },
      });
  }

  /** @throws DomainError `second_factor.passkeys_unavailable`, `second_factor.too_many_passkeys` */
  async startPasskey({ user, holderId }: SetupHolder): Promise<object> {
    const { db, factors, identity } = this.dependencies;
    const known = store.listPasskeys(db.read, user.id);
    if (known.length >= PASSKEYS_PER_USER_MAX) throw tooManyPasskeys(PASSKEYS_PER_USER_MAX);
    const challenge = factors.challenges.issue({ purpose: "create", userId: user.id, holderId });
    const organization = identity.findOrganization(db.read)?.name ?? "Quartermaster";
    return await creationOptions({ party: factors.party(), organization, user, challenge, known });
  }

  /**
   * @param given the browser's response as JSON, and the name that the user chose
   * @throws DomainError `second_factor.passkey_refused`; (from the function) `second_factor.passkey_known`,
   * `second_factor.too_many_passkeys`
   */
  async checkPasskey({ user, holderId }: SetupHolder, given: { answer: string; name: string }): Promise<Add> {
    const { clock, ids, factors } = this.dependencies;
    const use = { purpose: "create", userId: user.id, holderId } as const;
    const isChallenge = (encoded: string) => factors.challenges.isValid(encoded, use);
    const { challenge, ...created } = await verifyCreation(given.answer, {
      party: factors.party(),
      isChallenge,
    });
    const name = readPasskeyName(given.name);
    return (tx, actor) =>
      this.#add(tx, actor, {
        userId: user.id,
        kind: "passkey",
        name,
        add: () => {
          if (!factors.challenges.spend(tx, challenge)) throw passkeyRefused();
          if (store.listPasskeys(tx, user.id).length >= PASSKEYS_PER_USER_MAX)
            throw tooManyPasskeys(PASSKEYS_PER_USER_MAX);
          const times = { createdAtMs: clock.nowMs(), usedAtMs: null };
          const row = { ...created, ...times, id: ids.uuid(), userId: user.id, name };
          if (!store.addPasskey(tx, row)) throw passkeyKnown();
        },
      });
  }

  /** Replaces the recovery codes of a user, in the caller's transaction. @returns the new ones, to show once */
  renewCodes(tx: Tx, userId: string): readonly Secret[] {
    const codes = createRecoveryCodes(this.dependencies.ids);
    store.removeRecoveryCodes(tx, userId);
    store.addRecoveryCodes(
      tx,
      userId,
      codes.map((code) => recoveryCodeHash(userId, code)),
    );
    return codes.map((code) => new Secret(formatRecoveryCode(code)));
  }

  #add(
    tx: Tx,
    actor: Actor,
    { userId, kind, name, add }: { userId: string; kind: AddedFactor["kind"]; name?: string; add(): void },
  ): AddedFactor {
    const isFirst = !this.dependencies.factors.has(tx, userId);
    add();
    const after = { kind, ...(name !== undefined && { name }) };
    this.dependencies.audit.record(tx, { actor, action: "second_factor.add", target: userId, after });
    const recoveryCodes = store.countRecoveryCodes(tx, userId) === 0 ? this.renewCodes(tx, userId) : [];
    return { kind, isFirst, recoveryCodes };
  }

  #open(holder: SetupHolder, sealed: string): Secret {
    const { clock, sealing } = this.dependencies;
    const content = opened(() => sealing.open(sealed, setupContext(holder)));
    if (!Value.Check(Sealed, content) || clock.nowMs() >= content.expires_at_ms) throw enrollmentOver();
    return new Secret(content.secret);
  }
}

/** @returns undefined for a text that this service did not seal, or sealed for another session or with an old key */
function opened(open: () => string): unknown {
  try {
    return JSON.parse(open());
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

const setupContext = ({ user, holderId }: SetupHolder): string =>
  `authenticator-app setup:${user.id}:${holderId}`;
