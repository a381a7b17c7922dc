// Only the durable changes of a sign-in of a known person, with the schema and the statements of the service: the rows, their indexes
// and the audit entry. Nothing is checked or looked up.

import * as sessions from "../../../src/domain/access/sign-in/login-sessions-store.ts";
import { createAudit } from "../../../src/domain/audit/service.ts";
import { users } from "../../../src/domain/identity/tables.ts";
import * as identities from "../../../src/domain/sso/identities/identities-store.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { openDatabase } from "../../../src/platform/database/database.ts";
import { invariant } from "../../../src/platform/errors.ts";
import { sha256Hex, systemIds } from "../../../src/platform/ids.ts";

const DAY_MS = 86_400_000;

/** @param file database of an installation with a user @returns a function that commits the rows of a sign-in */
export async function openSignIns(file: string, issuer: string): Promise<() => Promise<void>> {
  const db = openDatabase(file);
  const [user] = db.read.select().from(users).all();
  invariant(user, "the installation has a user");
  const { id: userId, organizationId, email: label } = user;
  const audit = createAudit({ clock: systemClock });
  const person = { userId, issuer, subject: "ada", linkedBy: "sign_up", linkedAtMs: Date.now() } as const;
  const identity = { ...person, lastSignInAtMs: null };
  await db.write((tx) => identities.insert(tx, identity), "access");
  return () =>
    db.write((tx) => {
      const nowMs = Date.now();
      const id = systemIds.uuid();
      const browser = { address: "10.0.0.1", userAgent: null };
      const times = { createdAtMs: nowMs, renewedAtMs: nowMs, expiresAtMs: nowMs + DAY_MS };
      const how = { method: "oidc", issuer, providerSessionId: null, authTimeMs: null, acr: null } as const;
      const session = { id, userId, tokenHash: sha256Hex(id), endedAtMs: null, confirmedAtMs: null };
      identities.noteSignIn(tx, identity, nowMs);
      sessions.add(tx, { ...session, ...browser, ...times, ...how });
      audit.record(tx, {
        actor: { kind: "user", id: userId, label, organizationId, requestId: id, address: browser.address },
        action: "login_session.open",
        target: id,
        after: { method: how.method, issuer },
      });
    }, "access");
}
