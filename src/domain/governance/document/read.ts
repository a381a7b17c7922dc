// Reads a policy document from outside and judges it as a whole: shape and places in draft.ts, what its members must be
// to each other in check.ts. Text is read in text.ts; what becomes of a good document is publishing's.

import type { Problem } from "../../errors.ts";
import type { GovernanceConfig } from "../model.ts";

export interface DocumentOptions {
  /** whether the document may carry a `gateway` block: the service runs in gateway mode */
  gateway: boolean;
}

/** What could be read of an input. */
export interface Draft {
  /** in the shape of the answer, with defaults; lacks what the problems are about */
  document: GovernanceConfig;
  /** with pointers from the root of the document */
  problems: Problem[];
}

/**
 * Reads shape, defaults and everything that concerns one place; unknown members are refused.
 * What stamp() can still supply is not missed here, so: readDraft, merge, stamp, checkDocument.
 * @source control-api.md sections 4.1 and 8.2; section 20 items 30 and 31
 */
export const readDraft = (_input: unknown): Draft => {
  throw new Error("follows");
};

/**
 * Judges what the members of a stamped document must be to each other.
 * @returns all problems, with pointers from the root of the document
 * @source control-api.md sections 4.2 and 8.4; only allowed harnesses are judged for ranges (section 20 item 29)
 */
export const checkDocument = (_document: GovernanceConfig, _options: DocumentOptions): Problem[] => {
  throw new Error("follows");
};

/**
 * Reads and judges a whole document that says everything itself: a deployment file's, or a stamped one.
 * @returns the document only when there are no problems; its `revision` is the input's
 */
export const readDocument = (
  _input: unknown,
  _options: DocumentOptions,
): { document: GovernanceConfig | undefined; problems: Problem[] } => {
  throw new Error("follows");
};
