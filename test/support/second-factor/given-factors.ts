// Second factors of a caller of the test server, set up like on the pages.
import { Secret } from "../../../src/platform/secret.ts";
import { BASE_URL, type Caller, PASSWORD, type TestServer } from "../server.ts";
import { appCode } from "./authenticator-app.ts";
import { createAuthenticator } from "./software-authenticator.ts";

export interface GivenApp {
  /** base32 */
  secret: string;
  recoveryCodes: string[];
}

const sessionOf = ({ actor, loginSessionId: sessionId }: Caller) => ({ actor, sessionId });

/** Gives a caller without a factor an authenticator app, which uses up the code of the current time step. */
export async function giveApp(
  { domain, world }: Pick<TestServer, "domain" | "world">,
  caller: Caller,
): Promise<GivenApp> {
  const { ownFactors } = domain.access;
  const session = sessionOf(caller);
  await ownFactors.confirmWithPassword(session, new Secret(PASSWORD));
  const { secret, sealed } = ownFactors.startApp(session);
  const code = new Secret(appCode(secret.reveal(), world.clock.nowMs()));
  const { recoveryCodes } = await ownFactors.addApp(session, { sealed, code });
  return { secret: secret.reveal(), recoveryCodes: recoveryCodes.map((one) => one.reveal()) };
}

/** Gives a caller a passkey; the session must be confirmed, as after giveApp. */
export async function givePasskey({ domain }: Pick<TestServer, "domain">, caller: Caller) {
  const authenticator = createAuthenticator(BASE_URL);
  const session = sessionOf(caller);
  const response = authenticator.create(await domain.access.ownFactors.startPasskey(session));
  await domain.access.ownFactors.addPasskey(session, { answer: response, name: "Laptop" });
  return authenticator;
}
