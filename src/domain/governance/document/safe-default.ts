// The policy of a new installation: every harness may run, nothing is managed.

import { HARNESS_KEYS } from "../../harnesses/harnesses.ts";
import type { GovernanceConfig } from "../model.ts";

/** @returns a document that passes every check and demands nothing of clients; its `revision` is for the publisher to set */
export const safeDefault = (): GovernanceConfig => ({
  revision: "",
  contract_version: 1,
  required: false,
  allowed_harnesses: [...HARNESS_KEYS],
  harnesses: {},
  packages: [],
});
