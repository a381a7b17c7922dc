// The policy of a new installation: every harness is allowed, nothing is managed.

import { HARNESS_KEYS } from "../../harnesses/harnesses.ts";
import type { GovernanceConfig } from "../model.ts";

/** @returns a document that passes every check and requires nothing of clients; the publisher sets its `revision` */
export const safeDefault = (): GovernanceConfig => ({
  revision: "",
  contract_version: 1,
  required: false,
  allowed_harnesses: [...HARNESS_KEYS],
  harnesses: {},
  packages: [],
});
