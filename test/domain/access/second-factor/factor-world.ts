// The access world with functions that give its member a second factor and sign in up to the second step.
import { SecondFactorNeeded } from "../../../../src/domain/access/second-factor/errors.ts";
import type { OwnSession } from "../../../../src/domain/access/second-factor/own-second-factors.ts";
import type { AccessSettings } from "../../../../src/domain/access/settings.ts";
import type { AttemptRequest } from "../../../../src/domain/access/sign-in/factor-sign-in.ts";
import type { User } from "../../../../src/domain/identity/service.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { appCode } from "../../../support/second-factor/authenticator-app.ts";
import { createAuthenticator } from "../../../support/second-factor/software-authenticator.ts";
import { type AccessWorld, BASE_URL, createAccessWorld, PASSWORD } from "../access-world.ts";

export const ORIGIN = { address: "192.0.2.1", userAgent: "Browser/1" };

export const createFactorWorld = (settings: Partial<AccessSettings> = {}): Promise<AccessWorld> =>
  createAccessWorld(settings);

/** A session of the user, in the form that its operations use. */
export async function sessionOf(
  world: AccessWorld,
  { user = world.user, isFresh = true }: { user?: User; isFresh?: boolean } = {},
): Promise<OwnSession> {
  const opened = await world.db.write(
    (tx) => world.sessions.open(tx, user.id, { ...ORIGIN, isFresh }),
    "access",
  );
  const { id, email: label, organizationId } = user;
  const actor = {
    kind: "user",
    id,
    label,
    organizationId,
    credential: `login_session:${opened.id}`,
  } as const;
  return { actor, sessionId: opened.id };
}

export interface App {
  secret: string;
  /** as text, in groups */
  recoveryCodes: string[];
}

/** Gives the user an authenticator app. This uses up the code of the current time step. */
export async function addApp(world: AccessWorld, user: User = world.user): Promise<App> {
  const session = await sessionOf(world, { user });
  const { secret, sealed } = world.ownFactors.startApp(session);
  const code = new Secret(appCode(secret.reveal(), world.clock.nowMs()));
  const { recoveryCodes } = await world.ownFactors.addApp(session, { sealed, code });
  return { secret: secret.reveal(), recoveryCodes: recoveryCodes.map((code) => code.reveal()) };
}

/** Gives the user a passkey. */
export async function addPasskey(world: AccessWorld, user: User = world.user) {
  const session = await sessionOf(world, { user });
  const authenticator = createAuthenticator(BASE_URL);
  const response = authenticator.create(await world.ownFactors.startPasskey(session));
  await world.ownFactors.addPasskey(session, { answer: response, name: "Laptop" });
  return authenticator;
}

/** Signs in with the password. @returns what the browser needs for the second step */
export async function attemptOf(world: AccessWorld, user: User = world.user): Promise<AttemptRequest> {
  const signingIn = world.sessions.signIn({ ...ORIGIN, email: user.email, password: new Secret(PASSWORD) });
  const stopped = await signingIn.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(stopped instanceof SecondFactorNeeded)) throw new Error(`no second factor was asked for: ${stopped}`);
  return { ...ORIGIN, token: stopped.attemptToken };
}

/** @returns the options for a passkey on the page of the second step */
export async function requestOf(world: AccessWorld, { token }: AttemptRequest): Promise<object> {
  const attempt = world.factorSignIns.find(token);
  const options = attempt && (await world.factorSignIns.passkeyRequest(attempt));
  if (!options) throw new Error("no passkey is asked for");
  return options;
}

/** @returns the kind of success, or the reason of the refusal */
export const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: unknown) => (error instanceof DomainError ? error.reason : String(error)),
  );

/** @returns a proof by the code that the app shows now */
export const codeNow = (world: AccessWorld, { secret }: App) => ({
  code: new Secret(appCode(secret, world.clock.nowMs())),
});
