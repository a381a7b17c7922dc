// The URL to which the policy sends captured sessions. Workstations derive the URLs of lists and downloads from it by relative
// paths, which works only with our own URL.
import type { Problem } from "../../../platform/errors.ts";
import type { GovernanceConfig } from "../model.ts";

const PRESIGN_PATH = "/session-uploads/presign";

/** @returns the URL that a policy should name; undefined if our origin is not known */
export const presignUrlAt = (origin: string): string | undefined =>
  origin === "" ? undefined : `${origin}${PRESIGN_PATH}`;

/** @param expected result of `presignUrlAt` */
export function uploadWarningsOf(
  { session_upload: upload }: Pick<GovernanceConfig, "session_upload">,
  expected: string | undefined,
): Problem[] {
  if (upload === undefined || expected === undefined || upload.presign_url === expected) return [];
  return [
    {
      pointer: "/session_upload/presign_url",
      detail: `is not the address of this service, so workstations cannot upload captured sessions or list them; write ${expected}`,
    },
  ];
}
