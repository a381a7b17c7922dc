// The shape of a policy document: reads every member with its default and checks each by itself. Unknown members are refused.
// check.ts checks the relations between members.

import { closest } from "fastest-levenshtein";
import type { Problem } from "../../../platform/errors.ts";
import { ObjectReader, readText } from "../../../platform/text/object-reader.ts";
import { ProblemList, quoted } from "../../../platform/text/problem-list.ts";
import { readPackages } from "../../catalog/service.ts";
import { parseVersion } from "../../shared/exact-version.ts";
import {
  CAPABILITIES_MAX,
  type GatewayBlock,
  type GovernanceConfig,
  LABEL_CHARACTERS_MAX,
  TTL_SECONDS_MAX,
  URL_CHARACTERS_MAX,
} from "../model.ts";
import { CONTRACT_GENERATION, POLICY_CAPABILITIES } from "../wire.ts";
import { readAllowedHarnesses, readHarnesses } from "./harness-policy.ts";
import { DOCUMENT_MEMBERS } from "./member-order.ts";
import { urlProblem } from "./url.ts";

const GATEWAY_MEMBERS = ["type", "proxy_url", "token", "auth_style"];

/** The readable part of an input. */
export interface Draft {
  /** in the form of the response, with defaults; members with problems are missing */
  document: GovernanceConfig;
  /** with pointers from the root of the document */
  problems: Problem[];
}

const readCapabilities = (members: ObjectReader): string[] => {
  const known: readonly string[] = POLICY_CAPABILITIES;
  const { problems } = members;
  const names = members.items("required_capabilities", CAPABILITIES_MAX).flatMap((place) => {
    const name = readText(place, problems, LABEL_CHARACTERS_MAX);
    if (name === undefined || known.includes(name)) return name ?? [];
    problems.add(
      place.pointer,
      `${quoted(name)} is not a known capability; the nearest is ${closest(name, known)}`,
    );
    return [];
  });
  return [...new Set(names)];
};

const readVersion = (members: ObjectReader, name: string): string | undefined => {
  const text = members.text(name, LABEL_CHARACTERS_MAX);
  if (text === undefined || parseVersion(text)) return text;
  members.report(`${quoted(text)} is not a full version such as 1.4.0`, name);
  return undefined;
};

/** Reads an object whose only member is a URL. */
const readUrlBlock = (members: ObjectReader, block: string, name: string): string | undefined => {
  if (!members.has(block)) return undefined;
  const place = { value: members.value(block), pointer: members.at(block) };
  const inner = ObjectReader.read(place, members.problems, [name]);
  const url = inner?.requiredText(name, URL_CHARACTERS_MAX);
  const fault = url === undefined ? undefined : urlProblem(url);
  if (fault) inner?.report(fault, name);
  return fault ? undefined : url;
};

/** Never repeats a value, because it may be a token. */
const readGateway = (members: ObjectReader): GatewayBlock | undefined => {
  if (!members.has("gateway")) return undefined;
  const place = { value: members.value("gateway"), pointer: members.at("gateway") };
  const gateway = ObjectReader.read(place, members.problems, GATEWAY_MEMBERS);
  if (!gateway) return undefined;
  for (const name of ["proxy_url", "token"])
    if (gateway.has(name)) gateway.report("is added when the policy is delivered; remove it", name);
  if (gateway.value("type") !== "litellm") gateway.report("must be litellm", "type");
  if (gateway.has("auth_style") && gateway.value("auth_style") !== "bearer")
    gateway.report("must be bearer", "auth_style");
  return { type: "litellm", auth_style: "bearer" };
};

const readMembers = (members: ObjectReader): GovernanceConfig => {
  const { problems } = members;
  const revision = members.requiredText("revision", LABEL_CHARACTERS_MAX) ?? "";
  const contractVersion = members.integer("contract_version", { min: 1, max: CONTRACT_GENERATION }) ?? 1;
  const capabilities = readCapabilities(members);
  const minimum = readVersion(members, "minimum_client_version");
  const pinned = readVersion(members, "required_client_version");
  const ttlSeconds = members.integer("ttl_seconds", { min: 0, max: TTL_SECONDS_MAX });
  const required = members.flag("required") ?? false;
  const allowed = readAllowedHarnesses(members);
  const harnesses = readHarnesses(members);
  const list = { value: members.value("packages"), pointer: members.at("packages") };
  const packages = list.value === undefined ? [] : readPackages(list, problems);
  const gateway = readGateway(members);
  const presignUrl = readUrlBlock(members, "session_upload", "presign_url");
  const sinkUrl = readUrlBlock(members, "telemetry", "sink_url");
  return {
    revision,
    contract_version: contractVersion,
    ...(capabilities.length > 0 ? { required_capabilities: capabilities } : {}),
    ...(minimum === undefined ? {} : { minimum_client_version: minimum }),
    ...(pinned === undefined ? {} : { required_client_version: pinned }),
    ...(ttlSeconds === undefined ? {} : { ttl_seconds: ttlSeconds }),
    required,
    allowed_harnesses: allowed,
    harnesses,
    packages,
    ...(gateway ? { gateway } : {}),
    ...(presignUrl === undefined ? {} : { session_upload: { presign_url: presignUrl } }),
    ...(sinkUrl === undefined ? {} : { telemetry: { sink_url: sinkUrl } }),
  };
};

const NOTHING: GovernanceConfig = {
  revision: "",
  contract_version: 1,
  required: false,
  allowed_harnesses: [],
  harnesses: {},
  packages: [],
};

/**
 * Reads the shape and the defaults, and checks each member by itself; refuses unknown members. Members that stamp() adds may be
 * absent, so the order is: readDraft, merge, stamp, checkDocument.
 * @source handbook: policy-file, Members
 */
export const readDraft = (input: unknown): Draft => {
  const problems = new ProblemList();
  const members = ObjectReader.read({ value: input, pointer: "" }, problems, DOCUMENT_MEMBERS);
  const document = members ? readMembers(members) : NOTHING;
  return { document, problems: problems.list() };
};
