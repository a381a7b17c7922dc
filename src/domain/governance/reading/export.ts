// The deployment file that would produce this policy again: the configuration file with the document as its section
// `governance`. Every probable secret (secrets/likely-secrets.ts) is replaced with a reference to the environment.

import { numberReferenceTo, referenceIn, referenceTo } from "../../../platform/config/references.ts";
import { pointerOf } from "../../../platform/errors.ts";
import { isJsonObject, type JsonObject, ownMember } from "../../../platform/json/json-object.ts";
import { yamlText } from "../../../platform/text/yaml-write.ts";
import type { GovernanceConfig } from "../model.ts";
import { withoutRevisionFields } from "../publishing/finalize.ts";
import { replaceSecrets } from "../secrets/likely-secrets.ts";
import { type JsonBytes, jsonBytes } from "./admin-view.ts";

/**
 * @param document a GovernanceConfig as JSON
 * @returns a DeploymentConfigExport as JSON
 */
export function exportedBytes({
  document,
  configuration,
  sources,
}: {
  document: string;
  configuration: Configuration | undefined;
  sources: ManagedSources;
}): JsonBytes {
  const { yaml, redactions } = exportDeployment(withSources(JSON.parse(document), sources), configuration);
  const listed = redactions.map(({ path, environmentVariable }) => ({
    path,
    environment_variable: environmentVariable,
  }));
  return jsonBytes({ yaml, redactions: listed });
}

/** The configuration file, and its settings that are secrets under any name. */
export interface Configuration {
  /** a mapping, as JSON */
  content: string;
  /** dotted key and environment variable of each secret setting */
  secrets: readonly (readonly [string, string])[];
}

/** Origins of mirrored packages, by package id. */
export type ManagedSources = Readonly<
  Record<
    string,
    {
      connection_id: string;
      repository: string;
      requested_ref: string;
      resolved_commit: string;
      path?: string;
    }
  >
>;

const withSources = (document: GovernanceConfig, sources: ManagedSources): GovernanceConfig => ({
  ...document,
  packages: document.packages.map((managed) => {
    const source = ownMember(sources, managed.id);
    return source ? { ...managed, managed_source: source } : managed;
  }),
});

interface Redaction {
  /** RFC 6901 pointer into the exported file */
  path: string;
  environmentVariable: string;
}

interface DeploymentExport {
  yaml: string;
  redactions: Redaction[];
}

const SECTION = "governance";

/** @returns the file as text, and the values that were removed from it */
function exportDeployment(
  document: GovernanceConfig,
  configuration: Configuration | undefined,
): DeploymentExport {
  const content: JsonObject = configuration ? JSON.parse(configuration.content) : {};
  const secrets = new Map(configuration?.secrets);
  const { revision: _, ...policy } = withoutRevisionFields(document);
  const redactions: Redaction[] = [];
  const names = new FreeNames();
  const settingOf = (path: readonly string[]) => secrets.get(path.join("."));
  const redacted = replaceSecrets(
    { ...content, [SECTION]: { revision: document.revision, ...policy } },
    {
      isNumbered: true,
      isMarked: (path) => settingOf(path) !== undefined,
      replace: ({ path, value }) => {
        if (referenceIn(value) !== undefined) return value;
        const environmentVariable = names.fixed(settingOf(path)) ?? names.free(variableFor(path));
        redactions.push({ path: pointerOf(path), environmentVariable });
        return typeof value === "number"
          ? numberReferenceTo(environmentVariable)
          : referenceTo(environmentVariable);
      },
    },
  );
  return { yaml: yamlText(isJsonObject(redacted) ? redacted : {}), redactions };
}

const variableFor = (path: readonly string[]): string =>
  `QUARTERMASTER_${path
    .join("_")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .toUpperCase()}`;

/** Two places may produce the same name; the second gets a number. */
class FreeNames {
  readonly #taken = new Set<string>();
  readonly #numbers = new Map<string, number>();

  /** @returns the name of a setting's variable, which only the setting may use */
  fixed(name: string | undefined): string | undefined {
    if (name !== undefined) this.#taken.add(name);
    return name;
  }

  /** @returns the name, or the first free numbered one */
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
