// The policy of a new installation: every harness may run, nothing is managed.

import type { GovernanceConfig } from "../model.ts";

/** @returns a document that passes every check and demands nothing of clients; its `revision` is for the publisher to set */
export const safeDefault = (): GovernanceConfig => {
  throw new Error("follows");
};
