// Logs in on a data directory like the server would, with the domain in this process, for commands that list and revoke logins. A
// running server may use the same directory.

import { type ExistingInstallation, openExisting } from "../../../src/app/installation/installation.ts";
import type { LoginKind } from "../../../src/domain/access/logins/logins.ts";
import { OAUTH_CLIENT_ID } from "../../../src/domain/access/wire.ts";
import type { Actor } from "../../../src/domain/shared/actor.ts";
import type { Clock } from "../../../src/platform/clock.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import type { Ids } from "../../../src/platform/ids.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { appCode } from "../second-factor/authenticator-app.ts";

export interface DataInUse {
  data: string;
  clock: Clock;
  ids: Ids;
}

const ORIGIN = "http://127.0.0.1:8080";
const ADDRESS = "192.0.2.7";

/** Opens the directory for one operation. */
export async function inInstallation<T>(
  { data, clock, ids }: DataInUse,
  work: (installation: ExistingInstallation) => Promise<T>,
  flags: Readonly<Record<string, string>> = {},
): Promise<T> {
  const config = loadConfig({ flags: { ...flags, dataDir: data }, env: {}, cwd: data });
  const installation = await openExisting({ config, clock, ids, baseUrl: () => ORIGIN });
  try {
    return await work(installation);
  } finally {
    await installation.close();
  }
}

/** Signs root@example.org in and approves the device login of that link. @returns the id of the login session */
async function approve(
  { db, domain, organizationId }: ExistingInstallation,
  linkToken: string,
): Promise<string> {
  const { sessions, deviceLogins } = domain.access;
  const user = domain.identity.users.find(organizationId, "root@example.org");
  const origin = { address: ADDRESS, userAgent: "Firefox", isFresh: true };
  const { id: loginSessionId } = await db.write((tx) => sessions.open(tx, user.id, origin), "access");
  const actor: Actor = { kind: "user", id: user.id, label: user.email, organizationId };
  await deviceLogins.claim(actor, linkToken);
  await deviceLogins.decide(actor, { linkToken, loginSessionId, decision: "approve" });
  return loginSessionId;
}

/** Creates one login of each kind of root@example.org: a grant, the login session that approved it, and a pending device login. */
export function logInOn(place: DataInUse) {
  return inInstallation(place, async (installation) => {
    const { deviceLogins, grants, logins } = installation.domain.access;
    const form = { clientId: OAUTH_CLIENT_ID, address: ADDRESS };
    const { deviceCode, linkToken } = await deviceLogins.request(form);
    const loginSessionId = await approve(installation, linkToken);
    await grants.redeem({ deviceCode, clientId: OAUTH_CLIENT_ID });
    await deviceLogins.request(form);
    const newest = (kind: LoginKind): string => logins.list({ kind }).items[0]?.id ?? "";
    return { grantId: newest("grant"), loginSessionId, pendingId: newest("device_login") };
  });
}

/** Gives a user an authenticator app with recovery codes, like the page in a signed-in browser. */
export const addFactorOn = (place: DataInUse, email: string): Promise<void> =>
  inInstallation(place, async ({ db, domain, organizationId }) => {
    const { sessions, ownFactors } = domain.access;
    const { id, email: label } = domain.identity.users.find(organizationId, email);
    const origin = { address: ADDRESS, userAgent: "Firefox", isFresh: true };
    const { id: sessionId } = await db.write((tx) => sessions.open(tx, id, origin), "access");
    const session = { actor: { kind: "user", id, label, organizationId }, sessionId } as const;
    const { secret, sealed } = ownFactors.startApp(session);
    const code = new Secret(appCode(secret.reveal(), place.clock.nowMs()));
    await ownFactors.addApp(session, { sealed, code });
  });

/** Tries one wrong password without a signed-in browser. */
export const guessOn = (place: DataInUse, email: string): Promise<unknown> =>
  inInstallation(place, async ({ domain }) => {
    const guess = { email, password: new Secret("a wrong password"), address: ADDRESS, userAgent: null };
    return await domain.access.sessions.signIn(guess).catch((error: unknown) => error);
  });

/** Sends invitations like an administrator in a browser. */
export const inviteOn = (
  place: DataInUse,
  { inviter, emails }: { inviter: string; emails: readonly string[] },
): Promise<void> =>
  inInstallation(place, async ({ domain, organizationId }) => {
    const { users, invitations } = domain.identity;
    const user = users.find(organizationId, inviter);
    const actor: Actor = { kind: "user", id: user.id, label: user.email, organizationId };
    for (const email of emails) await invitations.create(actor, { email, role: "admin" });
  });
