// Rules that involve several settings: settings that require each other, and combinations that work but are probably a mistake.
// config/table.ts defines each setting by itself; config/config.ts loads them.
import type { Problem } from "../errors.ts";
import type { ConfigFile } from "./file.ts";
import { objectStoreWarnings, problemsOfObjectStore } from "./object-store-rules.ts";
import { problemsOfProxy, proxyWarnings } from "./proxy-rules.ts";
import { referenceWarnings } from "./reference-keys.ts";
import { missingSetting, problem, type Settings } from "./setting-problem.ts";
import { problemsOfStandby, standbyWarnings } from "./standby/rules.ts";
import { SETTING_NAMES, type SettingName } from "./table.ts";

/** The provisioner that is part of the service; every other type is an executable. */
const BUILTIN_PROVISIONER = "builtin-litellm";

/** @returns whether the setting has an effect only while gateway mode is on */
export const isGatewayDetail = (name: SettingName): boolean =>
  name.startsWith("gateway.") && name !== "gateway.type";

/** @returns a problem for each missing setting that another setting requires */
export const missingSettings = (config: Settings): readonly Problem[] => [
  ...missingCounterpart(config, ["server.tls_cert", "server.tls_key"]),
  ...missingCounterpart(config, ["harnesses.file", "harnesses.trust"]),
  ...missingCounterpart(config, ["audit.forward.client_cert", "audit.forward.client_key"]),
  ...missingCounterpart(config, ["tracing.client_cert", "tracing.client_key"]),
  ...problemsOfHeader(config, "audit.forward.authorization"),
  ...problemsOfHeader(config, "tracing.authorization"),
  ...(config.has("gateway.type") ? missingForGateway(config) : []),
  ...(config.has("identity.oidc.issuer") ? problemsOfProvider(config) : []),
  ...problemsOfSessions(config),
  ...problemsOfObjectStore(config),
  ...problemsOfStandby(config),
];

/** Characters of a header value (RFC 9110 section 5.5), limited to ASCII, which needs no encoding. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

function problemsOfHeader(
  config: Settings,
  name: "audit.forward.authorization" | "tracing.authorization",
): readonly Problem[] {
  const header = config.get(name);
  return header === undefined || HEADER_VALUE.test(header.reveal())
    ? []
    : [problem(name, "must be one line of printable ASCII, without spaces at its ends")];
}

/** @returns a warning about settings that have no effect while their URL is not set */
function warningsWithoutUrl(
  config: Settings,
  address: "audit.forward.url" | "tracing.url",
): readonly string[] {
  const prefix = address.slice(0, -"url".length);
  const ignored = SETTING_NAMES.filter((name) => name.startsWith(prefix) && config.has(name));
  return config.has(address) || ignored.length === 0
    ? []
    : [`${address} is not set, so these do nothing: ${ignored.join(", ")}`];
}

function forwardingWarnings(config: Settings): readonly string[] {
  const url = config.get("audit.forward.url");
  if (url === undefined) return warningsWithoutUrl(config, "audit.forward.url");
  return url.startsWith("syslog+tls:") && config.has("audit.forward.authorization")
    ? ["audit.forward.authorization does nothing, because syslog has no such header"]
    : [];
}

function problemsOfSessions(config: Settings): readonly Problem[] {
  const superseded = config.get("sessions.superseded_days");
  const kept = config.get("sessions.retention_days");
  return superseded !== undefined && kept !== undefined && superseded > kept
    ? [problem("sessions.superseded_days", "must not be larger than sessions.retention_days")]
    : [];
}

/** @returns warnings for the operator, as sentences */
export function warningsFor(config: Settings, file: ConfigFile | undefined): readonly string[] {
  const gateway = config.has("gateway.type");
  const ignored = SETTING_NAMES.filter((name) => !gateway && isGatewayDetail(name) && config.has(name));
  return [
    ...(ignored.length === 0
      ? []
      : [`gateway.type is not set, so gateway mode is off and these do nothing: ${ignored.join(", ")}`]),
    ...(file === undefined ? [] : referenceWarnings(file, { gateway })),
    ...(gateway ? proxyWarnings(config) : []),
    ...providerWarnings(config),
    ...objectStoreWarnings(config),
    ...standbyWarnings(config),
    ...forwardingWarnings(config),
    ...warningsWithoutUrl(config, "tracing.url"),
  ];
}

/** @returns a problem if exactly one setting of the pair is given */
function missingCounterpart(config: Settings, pair: readonly [SettingName, SettingName]): readonly Problem[] {
  const missing = pair.filter((name) => !config.has(name));
  return missing.length !== 1
    ? []
    : missing.map((name) => missingSetting(name, `${pair.join(" and ")} are given together or not at all`));
}

function missingForGateway(config: Settings): readonly Problem[] {
  const isExecutable =
    config.has("gateway.provisioner.executable_path") || config.has("gateway.provisioner.executable_sha256");
  const needed: readonly SettingName[] = [
    "gateway.url",
    "gateway.provisioner.type",
    isExecutable ? "gateway.provisioner.policy_revision" : "gateway.provisioner.admin_key",
  ];
  return [
    ...needed
      .filter((name) => !config.has(name))
      .map((name) => missingSetting(name, "gateway mode needs it")),
    ...missingCounterpart(config, [
      "gateway.provisioner.executable_path",
      "gateway.provisioner.executable_sha256",
    ]),
    ...(isExecutable ? missingVariables(config) : unknownProvisioner(config)),
    ...problemsOfProxy(config),
  ];
}

/** @returns problems of identity provider settings that depend on each other */
function problemsOfProvider(config: Settings): readonly Problem[] {
  const credential: SettingName =
    config.get("identity.oidc.client_auth") === "private_key_jwt"
      ? "identity.oidc.client_key"
      : "identity.oidc.client_secret";
  const needed: readonly SettingName[] = ["identity.oidc.client_id", credential];
  return [
    ...needed
      .filter((name) => !config.has(name))
      .map((name) => missingSetting(name, "identity.oidc.issuer needs it")),
    ...(admitsEverybody(config)
      ? [
          problem(
            "identity.oidc.provisioning",
            "jit admits anyone the provider knows; also set identity.oidc.allowed_groups, allowed_domains or required_claims",
          ),
        ]
      : []),
    ...(config.get("identity.oidc.trust_email") && isOfManyTenants(config.get("identity.oidc.issuer"))
      ? [
          problem(
            "identity.oidc.trust_email",
            "needs the issuer of a single tenant, because other tenants choose their own users' addresses",
          ),
        ]
      : []),
  ];
}

/** An invalid rule is a separate problem, so this looks only for empty rules. */
const admitsEverybody = (config: Settings): boolean =>
  config.get("identity.oidc.provisioning") === "jit" &&
  config.get("identity.oidc.allowed_groups")?.length === 0 &&
  config.get("identity.oidc.allowed_domains")?.length === 0 &&
  config.get("identity.oidc.required_claims")?.size === 0;

/** Path segments of Entra ID issuers that many tenants share; the last is the tenant id of personal accounts. */
const SHARED_TENANTS = ["common", "organizations", "consumers", "9188040d-6c67-4c5b-b112-36a304b66dad"];

const isOfManyTenants = (issuer: string | undefined): boolean =>
  issuer !== undefined &&
  unescaped(new URL(issuer).pathname)
    .toLowerCase()
    .split("/")
    .some((segment) => SHARED_TENANTS.includes(segment));

/** @returns the path with escaped ASCII characters decoded, even if escaped twice, because a provider decodes the path */
function unescaped(path: string): string {
  const once = path.replace(/%([0-7][0-9a-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return once === path ? path : unescaped(once);
}

function providerWarnings(config: Settings): readonly string[] {
  if (config.has("identity.oidc.issuer")) return [];
  const ignored = SETTING_NAMES.filter((name) => name.startsWith("identity.oidc.") && config.has(name));
  return [
    ...(ignored.length === 0
      ? []
      : [`identity.oidc.issuer is not set, so these do nothing: ${ignored.join(", ")}`]),
    ...(config.get("identity.mode") === "oidc"
      ? [
          "identity.mode is oidc, but identity.oidc.issuer is not set: only the first administrator can sign in",
        ]
      : []),
  ];
}

function unknownProvisioner(config: Settings): readonly Problem[] {
  const name = "gateway.provisioner.type";
  const type = config.get(name);
  return type === undefined || type === BUILTIN_PROVISIONER
    ? []
    : [problem(name, `must be ${BUILTIN_PROVISIONER}, or gateway.provisioner.executable_path must be set`)];
}

function missingVariables(config: Settings): readonly Problem[] {
  const name = "gateway.provisioner.executable_environment";
  return (config.get(name) ?? [])
    .filter((variable) => config.variable(variable) === undefined)
    .map((variable) => problem(name, `names ${variable}, which is not set`));
}
