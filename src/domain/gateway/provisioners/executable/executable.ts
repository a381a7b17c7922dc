// The provisioner that runs the operator's executable: sends requests and handles responses. executable-protocol.ts defines the
// documents; `run` executes a verified copy with a time limit. Source: handbook: gateway, The provisioner protocol.

import { DomainError, type Problem } from "../../../../platform/errors.ts";
import { inspectExecutable } from "../../../../platform/programs/executable-checks.ts";
import type { Invocation, ProgramResult } from "../../../../platform/programs/program.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import type { ProvisionerSettings } from "../../settings.ts";
import { ListingError, toModelListing } from "../model-listing.ts";
import {
  type GatewayIdentity,
  type ProvisionedKey,
  type Provisioner,
  ProvisionerError,
  type ProvisionRequest,
  type RevokeRequest,
} from "../provisioner.ts";
import {
  checkRevoked,
  ensureMessage,
  externalIdOf,
  listModelsMessage,
  RESPONSE_BYTES_MAX,
  readListing,
  readResult,
  revokeMessage,
  toProvisionedKey,
} from "./executable-protocol.ts";

/** Runs the executable once. @throws DomainError if it did not run to its end */
export type RunExecutable = (invocation: Invocation, signal: AbortSignal) => Promise<ProgramResult>;

/** The default environment of an executable, which gets none of our variables. */
const BASE_ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LANG: "C.UTF-8",
};

/** @returns the provisioner; checkExecutable checked whether the executable may run */
export function createExecutableProvisioner({
  settings,
  run,
}: {
  settings: ProvisionerSettings;
  run: RunExecutable;
}): Provisioner {
  const environment = { ...BASE_ENVIRONMENT, ...settings.executable?.environment };
  const responseTo = async (input: string, signal: AbortSignal): Promise<ProgramResult> => {
    try {
      return await run({ environment, input, outputBytesMax: RESPONSE_BYTES_MAX }, signal);
    } catch (error) {
      throw asUnavailable(error);
    }
  };
  const ask: Ask = async (input, signal) => readResult(await responseTo(input, signal));
  return {
    type: settings.type,
    provision: (request, signal) => provision(ask, request, signal),
    revoke: (request, signal) => revoke(ask, request, signal),
    async listModels(signal) {
      const response = await responseTo(listModelsMessage(), signal).catch(rejectLargeListing);
      return await runInTurns(toModelListing(readListing(response)));
    },
  };
}

type Ask = (input: string, signal: AbortSignal) => Promise<unknown>;

async function provision(ask: Ask, request: ProvisionRequest, signal: AbortSignal): Promise<ProvisionedKey> {
  const result = await ask(ensureMessage(request), signal);
  try {
    return toProvisionedKey(result);
  } catch (error) {
    await undoProvisioning(ask, { request, result }, signal);
    throw error;
  }
}

/** A new key that cannot be stored is revoked immediately; otherwise each attempt would leave another one. */
async function undoProvisioning(
  ask: Ask,
  { request, result }: { request: ProvisionRequest; result: unknown },
  signal: AbortSignal,
): Promise<void> {
  const externalId = externalIdOf(result);
  if (externalId === undefined || externalId === request.previous?.externalId) return;
  // If the key cannot be revoked now, the next attempt supersedes it. The first failure is reported.
  await ask(revokeMessage(request.identity, externalId), signal).catch(() => undefined);
}

async function revoke(ask: Ask, { identity, externalId }: RevokeRequest, signal: AbortSignal): Promise<void> {
  const found = externalId ?? (await findOrphanedKey(ask, identity, signal));
  if (found === undefined) return;
  try {
    checkRevoked(await ask(revokeMessage(identity, found), signal));
  } catch (error) {
    if (!hasCode(error, "credential_invalid")) throw error; // it is gone already
  }
}

/** The protocol cannot list keys. A newly requested key supersedes all others, so it is the only one afterward. */
async function findOrphanedKey(
  ask: Ask,
  identity: GatewayIdentity,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { externalId } = await provision(ask, { identity, reason: "missing", previous: null }, signal);
    return externalId;
  } catch (error) {
    if (hasCode(error, "account_missing")) return undefined; // without an account there are no keys
    throw error;
  }
}

/** A response of that size means an unusable list, not an outage. */
function rejectLargeListing(error: unknown): never {
  const { cause } = error instanceof ProvisionerError ? error : {};
  if (cause instanceof DomainError && cause.reason === "program.output_too_large")
    throw new ListingError("discovery_response", `the list has more than ${RESPONSE_BYTES_MAX} bytes`);
  throw error;
}

const hasCode = (error: unknown, code: ProvisionerError["code"]): boolean =>
  error instanceof ProvisionerError && error.code === code;

const asUnavailable = (error: unknown): unknown =>
  error instanceof DomainError && !(error instanceof ProvisionerError)
    ? new ProvisionerError("unavailable", `the provisioner failed: ${error.message}`, { cause: error })
    : error;

/**
 * Checks the requirements of an executable before the service starts.
 * @returns all problems, with pointers into the configuration; empty for the built-in provisioner
 * @source handbook: gateway, How it is run
 */
export function checkExecutable({
  executable,
  policyRevision,
  timeoutSeconds,
}: Pick<ProvisionerSettings, "executable" | "policyRevision" | "timeoutSeconds">): Problem[] {
  if (!executable) return [];
  return [
    ...inspectExecutable(executable).map(({ about, detail }) => problem(`executable_${about}`, detail)),
    ...(policyRevision?.trim() ? [] : [problem("policy_revision", "must not be blank for an executable")]),
    ...(timeoutSeconds > 0 ? [] : [problem("timeout_seconds", "must be more than 0")]),
  ];
}

const problem = (key: string, detail: string): Problem => ({
  pointer: `/gateway/provisioner/${key}`,
  detail,
});
