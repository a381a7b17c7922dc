// What a workstation client says it understands, compared with what a policy asks of it (control-api.md section 6.2).
import type { GovernanceConfig } from "../domain/governance/service.ts";
import {
  CAPABILITIES_HEADER,
  CONTRACT_VERSION_HEADER,
  REQUIRED_CLIENT_VERSION_HEADER,
} from "../domain/governance/wire.ts";
import { HttpError } from "./problem.ts";

/** Headers that the answer depends on, and the credentials that say whose it is. */
export const POLICY_VARY = ["authorization", "cookie", CONTRACT_VERSION_HEADER, CAPABILITIES_HEADER].join(
  ", ",
);

const CONTRACT_VERSION = /^\d{1,9}$/;
/** of a client that says nothing readable */
const FIRST_CONTRACT_VERSION = 1;

/** @returns the header that tells the one client version an organization wants; none where it wants none */
export const pinOf = ({ required_client_version: version }: GovernanceConfig): Record<string, string> =>
  version === undefined ? {} : { [REQUIRED_CLIENT_VERSION_HEADER]: version };

/** @throws HttpError 426 for a client that would not understand the policy; the text says what it lacks */
export function refuseOldClient({ headers }: Request, document: GovernanceConfig): void {
  const needed = document.contract_version;
  const spoken = contractVersionOf(headers.get(CONTRACT_VERSION_HEADER));
  const missing = missingFrom(headers.get(CAPABILITIES_HEADER), document.required_capabilities);
  if (spoken >= needed && missing.length === 0) return;
  const lacks = [
    ...(spoken < needed ? [`it needs contract ${needed}, this one speaks ${spoken}`] : []),
    ...(missing.length > 0 ? [`it needs ${missing.join(", ")}`] : []),
  ];
  const message = `update this client, it is too old for the policy: ${lacks.join("; ")}`;
  throw new HttpError(426, "governance.client_too_old", message, { headers: pinOf(document) });
}

const contractVersionOf = (header: string | null): number =>
  header !== null && CONTRACT_VERSION.test(header) ? Number(header) : FIRST_CONTRACT_VERSION;

function missingFrom(header: string | null, required: readonly string[] = []): string[] {
  if (required.length === 0) return [];
  const offered = new Set(header?.split(",").map((name) => name.trim()));
  return required.filter((name) => !offered.has(name));
}
