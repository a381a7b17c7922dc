// Requests to the built-in provisioner for one user, and how their failures are read.
import {
  type GatewayIdentity,
  type PreviousKey,
  type ProvisionedKey,
  type Provisioner,
  ProvisionerError,
  type ProvisionReason,
} from "../../../../../src/domain/gateway/provisioners/provisioner.ts";

export const ADA: GatewayIdentity = {
  id: "0190f3a0-0000-7000-8000-000000000001",
  email: "Ada@Example.com",
  organizationId: "0190f3a0-0000-7000-8000-00000000000f",
  groups: [],
};
export const ALIAS = "quartermaster:ada@example.com";
export const MARK = {
  managed_by: "quartermaster",
  owner_email: "ada@example.com",
  provisioner: "builtin-litellm",
};

const never = new AbortController().signal;

export const makeKey = (provisioner: Provisioner, reason: ProvisionReason = "missing", signal = never) =>
  provisioner.provision({ identity: ADA, reason, previous: null }, signal);

export const keepKey = (provisioner: Provisioner, { externalId, alias, metadata }: ProvisionedKey) => {
  const previous: PreviousKey = { externalId, alias, metadata };
  return provisioner.provision({ identity: ADA, reason: "reconciliation_due", previous }, never);
};

export const revokeKey = (provisioner: Provisioner, externalId: string | null) =>
  provisioner.revoke({ identity: ADA, externalId }, never);

/** @returns how the call failed */
export async function failureOf(
  call: Promise<unknown>,
): Promise<Pick<ProvisionerError, "code" | "diagnosis">> {
  const outcome = await call.then(
    () => "it succeeded",
    (error: unknown) => error,
  );
  if (!(outcome instanceof ProvisionerError)) throw new Error(`expected a failure, got: ${String(outcome)}`);
  return { code: outcome.code, diagnosis: outcome.diagnosis };
}
