// The errors of an object store. Callers get one of three sentences; the cause is for the log and has no URL, bucket or key id.
import { codeOf, DomainError } from "../errors.ts";

const RETRY_AFTER_SECONDS = 30;

/** Why the store could not be used. */
export class StoreFailure extends Error {
  constructor(
    message: string,
    /** HTTP status of the response; undefined without one */
    readonly status?: number,
    /** code of the store's error document, such as `SignatureDoesNotMatch` */
    readonly code?: string,
  ) {
    super(message);
    this.name = "StoreFailure";
  }
}

/** No response in time, or a response that the store is busy or broken. */
export const unreachable = (failure: StoreFailure): DomainError =>
  unavailable("object_store.unreachable", "the object store is not available", failure);

/** The store rejects the request because of its credentials, clock, bucket or signature. */
export const refused = (failure: StoreFailure): DomainError =>
  unavailable("object_store.refused", "the object store refused the request", failure);

/** The response does not follow the S3 protocol. */
export const invalid = (what: string): DomainError =>
  unavailable("object_store.invalid", "the object store sent an invalid response", new StoreFailure(what));

/** @returns the failure inside an error of this folder */
export const failureIn = (error: unknown): StoreFailure | undefined =>
  error instanceof DomainError && error.cause instanceof StoreFailure ? error.cause : undefined;

/** Code and name only, because the text of a network error contains the signed URL. */
export function networkFailure(error: unknown): StoreFailure {
  const cause = error instanceof DomainError ? (error.cause ?? error) : error;
  if (cause instanceof DomainError) return new StoreFailure(cause.reason);
  const name = cause instanceof Error ? (codeOf(cause) ?? cause.name) : "unknown";
  return new StoreFailure(`no response (${name})`);
}

const unavailable = (reason: string, message: string, cause: StoreFailure): DomainError =>
  new DomainError("unavailable", reason, message, { cause, retryAfterSeconds: RETRY_AFTER_SECONDS });
