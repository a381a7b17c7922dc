// The protocol of an executable provisioner: the JSON document on its standard input and the one on its standard output, protocol
// version 1. executable.ts runs it and acts on its responses. Source: handbook: gateway, The provisioner protocol.
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { ProgramResult } from "../../../../platform/programs/program.ts";
import { Secret } from "../../../../platform/secret.ts";
import { parseTime, toDiagnosis } from "../diagnosis.ts";
import { LISTING_CODES, ListingError } from "../model-listing.ts";
import {
  type GatewayIdentity,
  listingCodeOf,
  PROVISIONER_CODES,
  type ProvisionedKey,
  type ProvisionerCode,
  ProvisionerError,
  type ProvisionRequest,
} from "../provisioner.ts";

const PROTOCOL_VERSION = 1;
/** Maximum bytes on standard output. */
export const RESPONSE_BYTES_MAX = 1024 * 1024;
export const EXTERNAL_ID_CHARS_MAX = 512;
export const ALIAS_CHARS_MAX = 512;
export const CREDENTIAL_CHARS_MAX = 8_192;
/** Maximum bytes of the JSON that is stored with the key and sent with every call. */
export const METADATA_BYTES_MAX = 64 * 1024;
/** Maximum number of invalid places to name in a response. */
export const PROBLEM_PLACES_MAX = 3;

const nullable = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));
const text = (maxLength: number) => Type.String({ maxLength, pattern: "\\S" });

const envelope = { protocol_version: Type.Literal(PROTOCOL_VERSION) };
const Success = Type.Object(
  { ...envelope, status: Type.Literal("success"), result: Type.Unknown() },
  { additionalProperties: false },
);
const Failure = Type.Object(
  {
    ...envelope,
    status: Type.Literal("error"),
    error: Type.Object({ code: Type.String(), message: Type.String() }, { additionalProperties: false }),
  },
  { additionalProperties: false },
);
const Status = Type.Object({ status: Type.Union([Type.Literal("success"), Type.Literal("error")]) });

const EnsureResult = Type.Object({
  // Printable text without spaces, because it is sent in a header.
  credential: nullable(Type.String({ maxLength: CREDENTIAL_CHARS_MAX, pattern: "^[!-~]+$" })),
  external_id: text(EXTERNAL_ID_CHARS_MAX),
  alias: text(ALIAS_CHARS_MAX),
  metadata: nullable(Type.Record(Type.String(), Type.Unknown())),
  expires_at: nullable(Type.String()),
});
const RevokeResult = Type.Object({ revoked: Type.Literal(true) });
const Identified = Type.Pick(EnsureResult, ["external_id"]);

/** @returns the document that requests a key, or a check of the previous one */
export const ensureMessage = ({ identity, reason, previous }: ProvisionRequest): string =>
  messageOf("ensure", {
    identity: toWire(identity),
    reason,
    previous: previous && {
      external_id: previous.externalId,
      alias: previous.alias,
      metadata: previous.metadata,
    },
  });

/** @returns the document that requests the removal of a key */
export const revokeMessage = (identity: GatewayIdentity, externalId: string): string =>
  messageOf("revoke", { identity: toWire(identity), external_id: externalId });

/** @returns the document that requests the models of the gateway */
export const listModelsMessage = (): string => messageOf("list_models", {});

const messageOf = (operation: string, request: unknown): string =>
  JSON.stringify({ protocol_version: PROTOCOL_VERSION, operation, request });

const toWire = ({ id, email, organizationId, groups }: GatewayIdentity) => ({
  id,
  email,
  organization_id: organizationId,
  groups,
});

/**
 * @returns the result of a success; its required members depend on the operation
 * @throws ProvisionerError with the code of a failure; `unavailable` if the response does not follow the protocol
 */
export function readResult(ran: ProgramResult): unknown {
  const { error, result } = readResponse(ran);
  if (!error) return result;
  throw new ProvisionerError(isCode(error.code) ? error.code : "unavailable", diagnosisOf(error));
}

/**
 * @returns the result of a success of `list_models`
 * @throws ListingError with the code of a failure; ProvisionerError `unavailable` if the response does not follow the protocol
 */
export function readListing(ran: ProgramResult): unknown {
  const { error, result } = readResponse(ran);
  if (!error) return result;
  const { code } = error;
  if (isCode(code)) throw new ListingError(listingCodeOf(code), diagnosisOf(error));
  const known = code === "discovery_unsupported" ? "unsupported" : LISTING_CODES.find((one) => one === code);
  throw new ListingError(known ?? "unavailable", diagnosisOf(error));
}

const diagnosisOf = ({ code, message }: Static<typeof Failure>["error"]): string =>
  toDiagnosis(`${code}: ${message}`);

/** @throws ProvisionerError `unavailable` if the response does not follow the protocol */
function readResponse(ran: ProgramResult): { error?: Static<typeof Failure>["error"]; result?: unknown } {
  const { exitCode, errorBytes } = ran;
  const ending = `${exitCode === null ? "killed by a signal" : `exit status ${exitCode}`}, ${errorBytes} bytes on standard error`;
  const response = exitCode === null ? undefined : parseJson(ran.output);
  if (response === undefined) throw violation(`returned no JSON (${ending})`);
  if (expected(Status, response).status === "success") {
    if (exitCode !== 0) throw violation(`contradicts its success (${ending})`);
    return { result: expected(Success, response).result };
  }
  const { error } = expected(Failure, response);
  if (exitCode === 0) throw violation(`contradicts its error (${ending})`);
  return { error };
}

/** @throws ProvisionerError `unavailable` if a member is missing, blank or too long */
export function toProvisionedKey(result: unknown): ProvisionedKey {
  const { credential, external_id, alias, metadata = null, expires_at } = expected(EnsureResult, result);
  if (Buffer.byteLength(JSON.stringify(metadata)) > METADATA_BYTES_MAX) {
    throw violation(`returned more than ${METADATA_BYTES_MAX} bytes of metadata`);
  }
  return {
    ...(credential != null && { credential: new Secret(credential) }),
    externalId: external_id,
    alias,
    metadata,
    expiresAtMs: expires_at == null ? null : toExpiry(expires_at),
  };
}

/** @throws ProvisionerError `unavailable` unless the result confirms that the key is gone */
export function checkRevoked(result: unknown): void {
  expected(RevokeResult, result);
}

/** @returns the id of the key in a result, even if the rest of it is invalid */
export const externalIdOf = (result: unknown): string | undefined =>
  Value.Check(Identified, result) ? result.external_id : undefined;

function toExpiry(text: string): number {
  const ms = parseTime(text);
  if (ms === undefined) throw violation("returned an expiry that is not an RFC 3339 time");
  return ms;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** Names the invalid places of a response, never their values, which may be credentials. */
function expected<T extends TSchema>(schema: T, response: unknown): Static<T> {
  if (Value.Check(schema, response)) return response;
  const places = new Set(Array.from(Value.Errors(schema, response), ({ path }) => path || "/"));
  throw violation(`returned an invalid response at ${[...places].slice(0, PROBLEM_PLACES_MAX).join(", ")}`);
}

const isCode = (code: string): code is ProvisionerCode => PROVISIONER_CODES.some((known) => known === code);

const violation = (what: string): ProvisionerError =>
  new ProvisionerError("unavailable", toDiagnosis(`the provisioner ${what}`));
