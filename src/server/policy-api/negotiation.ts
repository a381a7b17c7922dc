// Compares the capabilities of a workstation client with the requirements of the policy.
import { LRUCache } from "lru-cache";
import type { GovernanceConfig } from "../../domain/governance/service.ts";
import {
  CAPABILITIES_HEADER,
  CONTRACT_VERSION_HEADER,
  REQUIRED_CLIENT_VERSION_HEADER,
} from "../../domain/governance/wire.ts";
import { HttpError } from "../http/problems/problem.ts";

/** Headers that the response depends on, including the credentials that identify the caller. */
export const POLICY_VARY = ["authorization", "cookie", CONTRACT_VERSION_HEADER, CAPABILITIES_HEADER].join(
  ", ",
);

/** Size limit of the capability list cache: each build of the client has one list, and parsing it costs a third of a 304. */
export const CAPABILITY_LISTS_KEPT_MAX = 64;

const CONTRACT_VERSION = /^\d{1,9}$/;
/** assumed if the client sends no valid version */
const FIRST_CONTRACT_VERSION = 1;

/** @throws HttpError 426 for a client that cannot understand the policy; the message lists the missing capabilities */
export type RefuseOldClient = (request: Request, document: GovernanceConfig) => void;

/** @returns the header with the client version that the organization requires; empty if it requires none */
export const requiredVersionHeader = ({
  required_client_version: version,
}: GovernanceConfig): Record<string, string> =>
  version === undefined ? {} : { [REQUIRED_CLIENT_VERSION_HEADER]: version };

/** @returns the check with an empty cache; create it once */
export function createNegotiation(): RefuseOldClient {
  const lists = new LRUCache<string, ReadonlySet<string>>({
    max: CAPABILITY_LISTS_KEPT_MAX,
    memoMethod: (header) => new Set(header.split(",").map((name) => name.trim())),
  });

  /** headers of the last accepted client; the next one is usually of the same build */
  let understood: { document: GovernanceConfig; version: string | null; offer: string | null } | undefined;

  return ({ headers }, document) => {
    const version = headers.get(CONTRACT_VERSION_HEADER);
    const offer = headers.get(CAPABILITIES_HEADER);
    if (understood?.document === document && understood.version === version && understood.offer === offer)
      return;
    const { contract_version: needed, required_capabilities: required = [] } = document;
    const spoken = contractVersionOf(version);
    const offered = lists.memo(offer ?? "");
    const missing = required.filter((name) => !offered.has(name));
    if (spoken < needed || missing.length > 0) throw clientTooOld(document, { spoken, missing });
    understood = { document, version, offer };
  };
}

const contractVersionOf = (header: string | null): number =>
  header !== null && CONTRACT_VERSION.test(header) ? Number(header) : FIRST_CONTRACT_VERSION;

function clientTooOld(
  document: GovernanceConfig,
  { spoken, missing }: { spoken: number; missing: readonly string[] },
): HttpError {
  const { contract_version: needed, required_client_version: version } = document;
  const lacks = [
    ...(spoken < needed ? [`contract ${needed}, while this client speaks ${spoken}`] : []),
    ...missing,
  ];
  const update = version === undefined ? "update this client" : `update this client to version ${version}`;
  const message = `${update}: the policy needs ${lacks.join("; ")}`;
  const members = {
    ...(version !== undefined && { required_client_version: version }),
    required_contract_version: needed,
    missing_capabilities: missing,
  };
  return new HttpError(426, "governance.client_too_old", message, {
    headers: requiredVersionHeader(document),
    members,
  });
}
