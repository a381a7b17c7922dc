// How tests describe a SCIM refusal: status and keyword, and words that its detail must contain.
import { expect } from "bun:test";
import { ScimError, type ScimType } from "../../../src/domain/scim/errors.ts";

/** @returns the refusal; any other result fails the test */
export function refusalOf(attempt: () => unknown): ScimError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof ScimError) return error;
    throw error;
  }
  throw new Error("expected a refusal");
}

/** Expects a 400 of that type whose detail has all the words. */
export function expectInvalid(attempt: () => unknown, scimType: ScimType, ...words: readonly string[]): void {
  const { status, scimType: type, message } = refusalOf(attempt);
  expect({ status, scimType: type }).toEqual({ status: 400, scimType });
  for (const word of words) expect(message).toContain(word);
}
