// Whether an installed version of a harness is one that a policy wants (control-api.md sections 7 and 10.2 step 5).

import type { HarnessKey } from "../../harnesses.ts";
import type { HarnessPolicy } from "../model.ts";

/**
 * @param policy of the harness; absent when the document has none
 * @param version as reported, full SemVer
 * @returns why the version does not do, a clause without the harness's name; nothing when it does
 */
export const checkVersion = (
  _policy: HarnessPolicy | undefined,
  _harness: HarnessKey,
  _version: string,
): string | undefined => {
  throw new Error("follows");
};
