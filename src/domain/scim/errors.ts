// Errors of SCIM requests (RFC 7644 section 3.12). The status is known here, not only in the HTTP interface, because it is part of
// the message, even inside a bulk response.
import { DomainError, type ErrorKind } from "../../platform/errors.ts";

/** Detail keywords of RFC 7644 table 9. */
export type ScimType =
  | "invalidFilter"
  | "invalidPath"
  | "invalidSyntax"
  | "invalidValue"
  | "invalidVers"
  | "mutability"
  | "noTarget"
  | "sensitive"
  | "tooMany"
  | "uniqueness";

const KIND_OF_STATUS = {
  400: "invalid",
  401: "unauthenticated",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  412: "conflict",
  413: "invalid",
  429: "too_many",
  501: "not_found",
  503: "unavailable",
} as const satisfies Record<number, ErrorKind>;

export type ScimStatus = keyof typeof KIND_OF_STATUS;

/** An expected failure of a SCIM request; `message` is the `detail` on the wire. */
export class ScimError extends DomainError {
  constructor(
    readonly status: ScimStatus,
    readonly scimType: ScimType | undefined,
    detail: string,
    options: { retryAfterSeconds?: number } = {},
  ) {
    super(KIND_OF_STATUS[status], `scim.${scimType ?? status}`, detail, options);
    this.name = "ScimError";
  }
}

/** @returns the error for a malformed message or an invalid value */
export const scimInvalid = (scimType: Exclude<ScimType, "uniqueness">, detail: string): ScimError =>
  new ScimError(400, scimType, detail);

/** @returns the error for a value that another resource has */
export const scimTaken = (detail: string): ScimError => new ScimError(409, "uniqueness", detail);

/** Unknown ids, removed resources and other organizations' resources give the same response. */
export const scimNotFound = (): ScimError => new ScimError(404, undefined, "no resource has this id");
