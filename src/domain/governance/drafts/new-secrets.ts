// Probable secrets that a draft adds to a policy. Workstations receive the policy in clear text, so its author is warned.
import { pointerOf } from "../../../platform/errors.ts";
import { isJsonObject } from "../../../platform/text/json-object.ts";
import {
  announcesSecret,
  isLikelySecret,
  isSecretName,
  isVariableReference,
  secretsInServer,
} from "../document/likely-secrets.ts";
import type { GovernanceConfig } from "../model.ts";

/** Places that a review names; it counts the others. */
export const NEW_SECRETS_NAMED_MAX = 20;

export interface NewSecrets {
  count: number;
  /** pointers as in document-paths.ts to the first NEW_SECRETS_NAMED_MAX; the position in a list is a number */
  named: string[];
}

/** @returns the places whose value looks like a key or a token and was not there before */
export function newSecretsOf(before: GovernanceConfig, after: GovernanceConfig): NewSecrets {
  const known = new Set(secretsOf(before).map(keyOf));
  const added = secretsOf(after).filter((secret) => !known.has(keyOf(secret)));
  return {
    count: added.length,
    named: added.slice(0, NEW_SECRETS_NAMED_MAX).map(({ path }) => pointerOf(path)),
  };
}

interface Secret {
  path: readonly string[];
  text: string;
}

/** Values of a list may have moved. */
const keyOf = ({ path, text }: Secret): string =>
  JSON.stringify([/^\d+$/.test(path.at(-1) ?? "") ? path.slice(0, -1) : path, text]);

function secretsOf({ harnesses, packages }: GovernanceConfig): Secret[] {
  const found: Secret[] = [];
  for (const [key, policy] of Object.entries(harnesses)) {
    const { mcp, ...rest } = policy;
    collect(rest, { path: ["harnesses", key], isMarked: false, found });
    for (const server of mcp)
      for (const { path, text } of secretsInServer(server))
        found.push({ path: ["harnesses", key, "mcp", server.name, ...path], text });
  }
  for (const managed of packages)
    collect(managed, { path: ["packages", managed.id], isMarked: false, found });
  return found;
}

interface Walk {
  path: readonly string[];
  isMarked: boolean;
  found: Secret[];
}

function collect(value: unknown, { path, isMarked, found }: Walk): void {
  if (typeof value === "string") {
    if (isLikelySecret(value, isMarked) && !isVariableReference(value)) found.push({ path, text: value });
  } else if (Array.isArray(value)) {
    for (const [at, entry] of value.entries()) {
      const previous = value[at - 1];
      const isAnnounced = typeof previous === "string" && announcesSecret(previous);
      collect(entry, { path: [...path, String(at)], isMarked: isMarked || isAnnounced, found });
    }
  } else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value))
      collect(member, { path: [...path, name], isMarked: isMarked || isSecretName(name), found });
  }
}
