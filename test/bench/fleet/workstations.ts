// A fleet for benchmarks: users with one signed-in workstation each, and the policy that they follow. The rows of users and logins
// are inserted directly into the database, because a device login for each would take longer than the measurement. The domain signs
// tokens, accepts reports and publishes policies. client-report.ts has the reports.

import type { ExistingInstallation } from "../../../src/app/installation/installation.ts";
import { grants, loginSessions } from "../../../src/domain/access/tables.ts";
import { OAUTH_CLIENT_ID, USER_SCOPES } from "../../../src/domain/access/wire.ts";
import type { Role } from "../../../src/domain/identity/service.ts";
import { users } from "../../../src/domain/identity/tables.ts";
import type { Actor } from "../../../src/domain/shared/actor.ts";
import { DAY_MS } from "../../../src/platform/clock.ts";
import { sha256Hex, systemIds } from "../../../src/platform/ids.ts";
import { clientReport, type Policy } from "../clients/client-report.ts";
import { benchPackages } from "../tools/packages.ts";

/** workstations of one transaction, and rows of one statement: SQLite allows 32,766 parameters */
const AT_ONCE = 500;
const PACKAGES = 3;
/** with that many packages the policy has sixty kilobytes and a report has one */
const SETTINGS_BYTES = 19_500;
const SCOPE = USER_SCOPES.join(" ");

/**
 * Publishes a policy of about sixty kilobytes, and one without packages before it.
 * @returns the facts for conforming reports of client-report.ts, for each policy
 */
export async function publishPolicies(
  installation: ExistingInstallation,
): Promise<Record<"former" | "current", Policy>> {
  const baseRevision = await publishRequirement(installation, ">=2.0.12");
  const packages = benchPackages()
    .slice(0, PACKAGES)
    .map((one) => ({ ...one, settings: { notes: "n".repeat(SETTINGS_BYTES) } }));
  const { id: revision } = await installation.domain.governance.publishing.publishExtensions(
    operatorOf(installation),
    { baseRevision, packages, packageAudiences: {} },
  );
  const pinned = packages.map(({ id, version, sha256 }) => ({ id, version, sha256 }));
  return {
    former: { revision: baseRevision, packages: [] },
    current: { revision, packages: pinned },
  };
}

/**
 * Publishes another requirement for the version of the harness.
 * @param versionRequirement such as `>=2.0.12`
 * @returns id of the new revision
 */
export async function publishRequirement(
  installation: ExistingInstallation,
  versionRequirement: string,
): Promise<string> {
  const { publishing, revisions } = installation.domain.governance;
  const { id } = await publishing.publishHarness(operatorOf(installation), {
    baseRevision: revisions.inForce(installation.organizationId).id,
    harness: "claude",
    managedConfigYaml: "",
    versionRequirement,
  });
  return id;
}

const operatorOf = ({ organizationId }: ExistingInstallation): Actor => ({
  kind: "operator",
  id: null,
  label: "bench",
  organizationId,
});

interface Fleet {
  count: number;
  policy: Policy;
  /** of the users; member by default */
  role?: Role;
}

/** Adds workstations, each of its own user, all of which have reported. @returns their tokens, one batch at a time */
export async function* enrol(
  installation: ExistingInstallation,
  { count, ...fleet }: Fleet,
): AsyncGenerator<string[]> {
  for (let first = 0; first < count; first += AT_ONCE)
    yield await enrolBatch(installation, { ...fleet, first, count: Math.min(AT_ONCE, count - first) });
}

async function enrolBatch(
  { db, domain, organizationId }: ExistingInstallation,
  { first, count, policy, role = "member" }: Fleet & { first: number },
): Promise<string[]> {
  const { access, clients } = domain;
  const nowMs = Date.now();
  const rows = Array.from({ length: count }, (_, at) =>
    rowsOf(`worker-${first + at}@example.com`, {
      role,
      organizationId,
      resource: access.settings.baseUrl(),
      nowMs,
    }),
  );
  await db.write((tx) => {
    tx.insert(users)
      .values(rows.map(({ user }) => user))
      .run();
    tx.insert(loginSessions)
      .values(rows.map(({ session }) => session))
      .run();
    tx.insert(grants)
      .values(rows.map(({ grant }) => grant))
      .run();
  }, "access");
  await Promise.all(
    rows.map(({ grant: { id: grantId, userId, loginSessionId } }, at) =>
      clients.report({ grantId, userId, loginSessionId, organizationId }, clientReport(first + at, policy)),
    ),
  );
  return rows.map(
    ({ user, grant }) =>
      access.tokens.mint({ user, grant, scope: SCOPE, sid: grant.loginSessionId, issuedAtMs: nowMs })
        .accessToken,
  );
}

interface Place {
  role: Role;
  organizationId: string;
  /** audience of the tokens */
  resource: string;
  nowMs: number;
}

function rowsOf(email: string, { role, organizationId, resource, nowMs }: Place) {
  const [userId, loginSessionId, id] = [systemIds.uuid(), systemIds.uuid(), systemIds.uuid()];
  const expiresAtMs = nowMs + DAY_MS;
  return {
    user: {
      id: userId,
      organizationId,
      subject: userId,
      email,
      emailKey: email,
      role,
      status: "active" as const,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    },
    session: {
      id: loginSessionId,
      userId,
      tokenHash: sha256Hex(loginSessionId),
      createdAtMs: nowMs,
      renewedAtMs: nowMs,
      expiresAtMs,
    },
    grant: {
      id,
      userId,
      loginSessionId,
      clientId: OAUTH_CLIENT_ID,
      scope: SCOPE,
      resource,
      createdAtMs: nowMs,
      refreshedAtMs: nowMs,
      expiresAtMs,
    },
  };
}
