// The members of a policy file, from the schema of the document and the limits of its reader.

import { PACKAGES_MAX } from "../../../src/domain/catalog/model.ts";
import {
  CAPABILITIES_MAX,
  GATEWAY_MODELS_MAX,
  GovernanceConfig,
  LABEL_CHARACTERS_MAX,
  MCP_ARGUMENTS_MAX,
  MCP_SERVERS_MAX,
  MCP_TEXT_CHARACTERS_MAX,
  OVERRIDES_MAX,
  TTL_SECONDS_MAX,
  URL_CHARACTERS_MAX,
} from "../../../src/domain/governance/model.ts";
import { REQUIREMENT_CHARACTERS_MAX } from "../../../src/domain/governance/versions/requirement.ts";
import { CONTRACT_GENERATION, POLICY_CAPABILITIES } from "../../../src/domain/governance/wire.ts";
import { HARNESS_KEYS } from "../../../src/domain/harnesses/harnesses.ts";
import {
  FREE_FORM_OBJECT_BYTES_MAX,
  FREE_FORM_OBJECT_DEPTH_MAX,
} from "../../../src/domain/shared/free-form-object.ts";
import { MODEL_ID_CHARACTERS_MAX } from "../../../src/domain/shared/model-ids.ts";
import { membersMarkdown, type Note } from "./schema-members.ts";

const HARNESS = "harnesses.<harness>";
const MCP = `${HARNESS}.mcp[]`;
const label = `1 to ${LABEL_CHARACTERS_MAX} characters`;
const url = `complete http or https URL, up to ${URL_CHARACTERS_MAX} characters`;
const line = `up to ${MCP_TEXT_CHARACTERS_MAX} characters, no NUL`;
const free = `${FREE_FORM_OBJECT_BYTES_MAX} bytes as JSON, ${FREE_FORM_OBJECT_DEPTH_MAX} levels`;
const words = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

const NOTES: Readonly<Record<string, Note>> = {
  revision: {
    about: "any text; the service replaces it with the id of the revision that it publishes",
    isRequired: true,
    limits: `up to ${LABEL_CHARACTERS_MAX} characters`,
  },
  contract_version: {
    about:
      "generation of the contract that workstations must understand; publishing raises it where the policy needs it",
    fallback: "1",
    limits: `1 to ${CONTRACT_GENERATION}`,
  },
  required_capabilities: {
    about: "capabilities that workstations must have; publishing adds those that the policy needs",
    limits: `up to ${CAPABILITIES_MAX} of ${words(POLICY_CAPABILITIES)}`,
  },
  minimum_client_version: {
    about:
      "oldest version of the workstation client; informational, and added by publishing where it is needed",
    limits: "full version such as `1.4.0`",
  },
  required_client_version: {
    about: "the only version of the workstation client that receives the policy",
    limits: "full version such as `1.4.0`",
  },
  ttl_seconds: {
    about: "seconds for which a workstation uses the policy before it asks again; 300 without it",
    limits: `0 to ${TTL_SECONDS_MAX}`,
  },
  required: {
    about: "whether a workstation that has no current policy refuses to start a harness",
    fallback: "false",
  },
  allowed_harnesses: { about: "harnesses that may run", fallback: "[]", limits: words(HARNESS_KEYS) },
  harnesses: {
    about: "requirements and settings of each harness, by its name",
    fallback: "{}",
    limits: words(HARNESS_KEYS),
  },
  [HARNESS]: { about: "policy of one harness" },
  [`${HARNESS}.version_requirement`]: {
    about: "versions that may run, for example `>=2.0.12, <3`",
    limits: `up to ${REQUIREMENT_CHARACTERS_MAX} characters; see Versions`,
  },
  [`${HARNESS}.allow_unverified_versions`]: {
    about: "lets versions run that this program does not certify yet; needs `version_requirement`",
    fallback: "false",
  },
  [`${HARNESS}.managed_config`]: {
    about: "settings of the harness; see Managed settings",
    fallback: "{}",
    limits: free,
  },
  [`${HARNESS}.mcp`]: { about: "MCP servers", fallback: "[]", limits: `up to ${MCP_SERVERS_MAX}` },
  [`${MCP}.name`]: { about: "name, unique for the harness", isRequired: true, limits: label },
  [`${MCP}.command`]: { about: "command line of a local server; either this or `url`", limits: line },
  [`${MCP}.args`]: {
    about: "arguments of a local server",
    fallback: "[]",
    limits: `up to ${MCP_ARGUMENTS_MAX}, each ${line}`,
  },
  [`${MCP}.env`]: {
    about: "variables of a local server",
    fallback: "{}",
    limits: `up to ${MCP_ARGUMENTS_MAX}, each ${line}`,
  },
  [`${MCP}.url`]: { about: "address of a remote server; either this or `command`", limits: url },
  [`${MCP}.transport`]: {
    about: "transport of a remote server",
    limits: `up to ${LABEL_CHARACTERS_MAX} characters`,
  },
  [`${MCP}.disabled`]: { about: "whether the server is off", fallback: "false" },
  [`${HARNESS}.package_overrides`]: {
    about: "differences for this harness, by the id of a package of this policy",
    fallback: "{}",
    limits: `up to ${OVERRIDES_MAX}`,
  },
  [`${HARNESS}.package_overrides.<key>.enabled`]: {
    about: "whether the harness gets the package",
    fallback: "true",
  },
  [`${HARNESS}.package_overrides.<key>.settings`]: {
    about: "settings of the package that win over its own",
    fallback: "{}",
    limits: free,
  },
  [`${HARNESS}.gateway_models`]: {
    about:
      "models of the gateway that the harness may use; workstations get the lists only if every allowed harness has one",
    fallback: "[]",
    limits: `up to ${GATEWAY_MODELS_MAX}, each 1 to ${MODEL_ID_CHARACTERS_MAX} characters`,
  },
  packages: {
    about: "packages that workstations install, written as in a [catalog file](catalog-file.md)",
    fallback: "[]",
    limits: `up to ${PACKAGES_MAX}`,
  },
  gateway: { about: "follows from the setting `gateway.type`; a policy file must leave it out" },
  session_upload: { about: "delivered to workstations unchanged" },
  "session_upload.presign_url": { about: "address", isRequired: true, limits: url },
  telemetry: { about: "delivered to workstations unchanged" },
  "telemetry.sink_url": { about: "address", isRequired: true, limits: url },
};

export const policyMembersMarkdown = (): string =>
  membersMarkdown(GovernanceConfig, NOTES, ["packages", "gateway"]);
