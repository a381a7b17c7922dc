// Distinguishes a form of an earlier session, whose values a page offers to send again, from a forged form.
import { DomainError } from "../../platform/errors.ts";

/** @returns whether the form was made in an earlier session */
export function staleness(check: () => void): boolean {
  try {
    check();
    return false;
  } catch (error) {
    if (error instanceof DomainError && error.reason === "form.stale") return true;
    throw error;
  }
}
