// Finds probable secrets that a draft adds to a policy. Its author gets a warning, because workstations receive the policy in
// clear text.
import { pointerOf } from "../../../platform/errors.ts";
import type { GovernanceConfig } from "../model.ts";
import { replaceSecrets, type Secret } from "../secrets/likely-secrets.ts";

/** Maximum number of places that a review names; it counts the others. */
export const NEW_SECRETS_NAMED_MAX = 20;

export interface NewSecrets {
  count: number;
  /** pointers (see document-paths.ts) to the first NEW_SECRETS_NAMED_MAX; the position in a list is a number */
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

/** Values of a list may have moved. */
const keyOf = ({ path, value }: Secret): string =>
  JSON.stringify([/^\d+$/.test(path.at(-1) ?? "") ? path.slice(0, -1) : path, value]);

function secretsOf(document: GovernanceConfig): Secret[] {
  const found: Secret[] = [];
  const replace = (secret: Secret) => {
    if (!secret.isVariable) found.push(secret);
    return secret.value;
  };
  replaceSecrets(document, { replace });
  return found;
}
