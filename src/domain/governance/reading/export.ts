// The deployment file that would produce this policy again: the configuration file with the document as its section
// `governance`. Every secret is replaced by a reference to the environment.

import { referenceIn, referenceTo } from "../../../platform/config/references.ts";
import { pointerOf } from "../../../platform/errors.ts";
import { isJsonObject, type JsonObject } from "../../../platform/text/json-object.ts";
import { yamlText } from "../../../platform/text/yaml-write.ts";
import type { GovernanceConfig } from "../model.ts";
import { withoutRevisionFields } from "../publishing/finalize.ts";
import { type JsonBytes, jsonBytes } from "./admin-view.ts";

/**
 * @param document a GovernanceConfig as JSON
 * @returns a DeploymentConfigExport as JSON
 */
export function exportedBytes({
  document,
  configuration,
}: {
  document: string;
  configuration: Configuration | undefined;
}): JsonBytes {
  const { yaml, redactions } = exportDeployment(JSON.parse(document), configuration);
  const listed = redactions.map(({ path, environmentVariable }) => ({
    path,
    environment_variable: environmentVariable,
  }));
  return jsonBytes({ yaml, redactions: listed });
}

/** The configuration file, and the settings that are secrets whatever their names are. */
export interface Configuration {
  /** a mapping, as JSON */
  content: string;
  /** dotted key and environment variable of each */
  secrets: readonly (readonly [string, string])[];
}

export interface Redaction {
  /** RFC 6901 pointer into the exported file */
  path: string;
  environmentVariable: string;
}

interface DeploymentExport {
  yaml: string;
  redactions: Redaction[];
}

const SECTION = "governance";
const SECRET_NAME =
  /(?:^|_)(?:token|secret|password|passwd|passphrase|credential|authorization|bearer|cookie|(?:api|private|access|secret|signing|encryption|sealing|admin|auth)_?key)s?(?:$|_(?:value|text|data|pem|base64|json))/;
/** prefixes that issuers of keys and tokens use */
const SECRET_VALUE =
  /^(?:sk-|pk-|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|eyJ[\w-]+\.|-----BEGIN |Bearer\s|Basic\s)/;
const SECRET_FLAG = /^--?([\w-]+)(?:=(.*))?$/s;

/** @returns the file as text, and the values that were removed from it */
function exportDeployment(
  document: GovernanceConfig,
  configuration: Configuration | undefined,
): DeploymentExport {
  const content: JsonObject = configuration ? JSON.parse(configuration.content) : {};
  const secrets = new Map(configuration?.secrets);
  const { revision: _, ...policy } = withoutRevisionFields(document);
  const redactions: Redaction[] = [];
  const whole = { ...content, [SECTION]: { revision: document.revision, ...policy } };
  const redacted = redact(whole, { path: [], secrets, redactions, names: new FreeNames() });
  return { yaml: yamlText(isJsonObject(redacted) ? redacted : {}), redactions };
}

interface Walk {
  path: readonly string[];
  secrets: ReadonlyMap<string, string>;
  redactions: Redaction[];
  names: FreeNames;
  /** the name or the place marks every text here as a secret */
  isSecret?: boolean;
}

function redact(value: unknown, walk: Walk): unknown {
  if (typeof value === "string") return redactText(value, walk);
  if (Array.isArray(value)) return redactList(value, walk);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => {
    const isSecret = walk.isSecret || isSecretName(name) || isServerEnvironment(walk.path, name);
    return [name, redact(member, { ...walk, path: [...walk.path, name], isSecret })];
  });
  return Object.fromEntries(members);
}

/** `--token X` and `--token=X` in the arguments of an MCP server */
function redactList(values: readonly unknown[], walk: Walk): unknown[] {
  return values.map((value, at) => {
    const [, flag, given] = SECRET_FLAG.exec(textOf(values[at - 1])) ?? [];
    const follows = flag !== undefined && given === undefined && isSecretName(flag);
    const isSecret = walk.isSecret || follows;
    return redact(value, { ...walk, path: [...walk.path, String(at)], isSecret });
  });
}

function redactText(text: string, { path, secrets, redactions, names, isSecret }: Walk): string {
  const configured = secrets.get(path.join("."));
  const [, flag, given] = SECRET_FLAG.exec(text) ?? [];
  const isTold = isSecret || SECRET_VALUE.test(text) || hasSecretIn(text);
  const isFlag = flag !== undefined && given !== undefined && isSecretName(flag);
  if (text === "" || referenceIn(text) !== undefined || !(configured || isTold || isFlag)) return text;
  const environmentVariable = names.fixed(configured) ?? names.free(variableFor(path));
  redactions.push({ path: pointerOf(path), environmentVariable });
  return referenceTo(environmentVariable);
}

/** Treats every server variable as a secret. A reference in place of a harmless value costs little. */
const isServerEnvironment = (path: readonly string[], name: string): boolean =>
  name === "env" && path.at(-2) === "mcp";

/** @returns whether a URL contains a password or a key */
function hasSecretIn(text: string): boolean {
  const url = URL.parse(text);
  if (!url) return false;
  return url.password !== "" || [...url.searchParams.keys()].some(isSecretName);
}

/** `apiKey`, `API-KEY` and `api_key` are one name. */
const isSecretName = (name: string): boolean =>
  SECRET_NAME.test(
    name
      .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
      .replaceAll(/[^A-Za-z0-9]+/g, "_")
      .toLowerCase(),
  );

const variableFor = (path: readonly string[]): string =>
  `QUARTERMASTER_${path
    .join("_")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .toUpperCase()}`;

/** Two places may lead to the same name; the second gets a number. */
class FreeNames {
  readonly #taken = new Set<string>();
  readonly #numbers = new Map<string, number>();

  /** @returns the name of a setting's variable, which is reserved for the setting */
  fixed(name: string | undefined): string | undefined {
    if (name !== undefined) this.#taken.add(name);
    return name;
  }

  /** @returns the name, or the first numbered one that is free */
  free(name: string): string {
    let candidate = name;
    let number = this.#numbers.get(name) ?? 1;
    while (this.#taken.has(candidate)) {
      number += 1;
      candidate = `${name}_${number}`;
    }
    this.#numbers.set(name, number);
    this.#taken.add(candidate);
    return candidate;
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
