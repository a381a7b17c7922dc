// A data directory for one benchmark, the service that runs on it, and the domain opened in parallel to the service: it
// creates workstations in a few transactions instead of several requests each.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ExistingInstallation, openExisting } from "../../../src/app/installation/installation.ts";
import type { RequestedDeviceLogin } from "../../../src/domain/access/device-login/device-logins.ts";
import type { TokenResponse } from "../../../src/domain/access/service.ts";
import { OAUTH_CLIENT_ID, REQUESTABLE_SCOPES, SESSION_COOKIE } from "../../../src/domain/access/wire.ts";
import type { Role } from "../../../src/domain/identity/model.ts";
import type { User } from "../../../src/domain/identity/service.ts";
import type { Actor } from "../../../src/domain/shared/actor.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { quartermaster, type Running, startServer } from "../processes.ts";

/** @returns a new directory below the system's temporary folder; it is removed when it is disposed */
export function temporaryDirectory(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "quartermaster-bench-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** @param settings flags as `serve` takes them */
export const startQuartermaster = (directory: string, ...settings: string[]): Promise<Running> =>
  startServer(quartermaster("serve", "--data-dir", directory, "--server-listen", "127.0.0.1:0", ...settings));

/** This one process prepares all workstations of a benchmark, and counts as one address. */
const UNLIMITED = {
  limitsDeviceCodesPerAddress: "100000",
  limitsPendingLoginsPerAddress: "100000",
  limitsPendingLoginsPerNetwork: "100000",
};

/**
 * Opens the directory of a service.
 * @param where its port on 127.0.0.1 without TLS, or its origin
 * @param flags settings in addition to the directory, as commander passes them
 */
export const openBeside = (
  directory: string,
  where: number | string,
  flags: Readonly<Record<string, string>> = {},
): Promise<ExistingInstallation> =>
  openExisting({
    config: loadConfig({ flags: { ...UNLIMITED, ...flags, dataDir: directory }, env: {}, cwd: directory }),
    clock: systemClock,
    ids: systemIds,
    baseUrl: () => (typeof where === "string" ? where : `http://127.0.0.1:${where}`),
  });

/** @returns a device login that a workstation has just requested */
export const requestLogin = ({ domain }: ExistingInstallation): Promise<RequestedDeviceLogin> =>
  domain.access.deviceLogins.request({
    clientId: OAUTH_CLIENT_ID,
    scope: REQUESTABLE_SCOPES.join(" "),
    address: null,
  });

/** Runs the whole device login for that many workstations, approved by one user: the first administrator. */
export async function logIn(
  installation: ExistingInstallation,
  workstations: number,
  actor = administratorOf(installation),
): Promise<TokenResponse[]> {
  const { db, domain } = installation;
  const { deviceLogins, grants, sessions } = domain.access;
  const { id: loginSessionId } = await db.write(
    (tx) => sessions.open(tx, actor.id, { address: null, userAgent: null, isFresh: true }),
    "access",
  );
  const one = async (): Promise<TokenResponse> => {
    const { linkToken, deviceCode } = await requestLogin(installation);
    await deviceLogins.claim(actor, linkToken);
    await deviceLogins.decide(actor, { linkToken, loginSessionId, decision: "approve" });
    return await grants.redeem({ deviceCode, clientId: OAUTH_CLIENT_ID });
  };
  return await Promise.all(Array.from({ length: workstations }, one));
}

/** One signed-in user. */
type UserActor = Actor & { id: string };

const actorOf = ({ id, email, organizationId }: User): UserActor => ({
  kind: "user",
  id,
  label: email,
  organizationId,
});

/** @returns the first administrator */
export function administratorOf({ db, domain, organizationId }: ExistingInstallation): UserActor {
  const user = domain.identity.findUserByEmail(db.read, organizationId, "admin@example.com");
  if (!user) throw new Error("a new data directory has its first administrator");
  return actorOf(user);
}

/** Signs a user in at a browser. @returns the value of the header `Cookie` */
export async function sessionCookie(
  installation: ExistingInstallation,
  { id } = administratorOf(installation),
): Promise<string> {
  const { db, domain } = installation;
  const { token } = await db.write(
    (tx) => domain.access.sessions.open(tx, id, { address: null, userAgent: null }),
    "access",
  );
  return `${SESSION_COOKIE}=${token}`;
}

/** Creates users; members can approve their own workstations. */
export async function addUsers(
  { domain }: ExistingInstallation,
  creator: Actor,
  count: number,
  role: Role = "member",
): Promise<UserActor[]> {
  const users: UserActor[] = [];
  while (users.length < count) {
    const email = `${role}-${users.length}@example.com`;
    users.push(actorOf((await domain.identity.users.create(creator, { email, role })).user));
  }
  return users;
}
