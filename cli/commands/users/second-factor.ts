// `users reset-second-factor`: for a user who lost the device. The next sign-in needs only the password, or leads to a new factor.
import type { FactorCounts } from "../../../src/domain/access/second-factor/factor-reset.ts";
import { toAdminUser } from "../../../src/domain/identity/model.ts";
import { countText } from "../../../src/platform/count-text.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";

/** @throws DomainError `user.not_found`, `confirmation.*` */
export async function resetSecondFactor(call: Call): Promise<void> {
  const { domain, actor, context, command, output, args } = call;
  const user = domain.identity.users.find(actor.organizationId, args[0] ?? "");
  const { factorReset } = domain.access;
  const counts = factorReset.count(user.id);
  const document = { user: toAdminUser(user) };
  if (isEmpty(counts))
    return output.result({ changed: false, ...document }, `unchanged: ${user.email} has no second factor`);
  const action = `remove the second factors of ${user.email}`;
  const details = [
    `${listOf(counts)} will be removed.`,
    "All browsers of this user are signed out; workstations stay signed in.",
  ];
  if (!(await isConfirmed(context, command, { action, details }))) return;
  const { sessionsEnded, ...removed } = await factorReset.reset(actor, user.id);
  const result = {
    changed: removed.isChange,
    ...document,
    removed: {
      authenticator_apps: removed.authenticatorApps,
      passkeys: removed.passkeys,
      recovery_codes: removed.recoveryCodes,
    },
    login_sessions_ended: sessionsEnded,
  };
  output.result(result, `removed ${listOf(removed)} of ${user.email}`);
}

const isEmpty = ({ authenticatorApps, passkeys, recoveryCodes }: FactorCounts): boolean =>
  authenticatorApps + passkeys + recoveryCodes === 0;

/** @returns for example `1 authenticator app, 2 passkeys, 10 recovery codes` */
const listOf = ({ authenticatorApps, passkeys, recoveryCodes }: FactorCounts): string =>
  [
    countText(authenticatorApps, "authenticator app"),
    countText(passkeys, "passkey"),
    countText(recoveryCodes, "recovery code"),
  ].join(", ");
