// Actions on many gateway keys: their texts, and the equivalent commands and requests.
import type { BulkKeyAction } from "../../../domain/gateway/administration/bulk-key-changes.ts";
import type { BulkView } from "../list/bulk.tsx";
import type { Values } from "../list/list.ts";
import { type Equivalents, options, optionsOrAll } from "../parts/command.tsx";
import { KEYS_PATH } from "./words.ts";

const NO_ACCESS = "Users who are suspended or removed get no key.";

/** The actions on many keys. */
export const KEY_BULK: BulkView<BulkKeyAction> = {
  path: `${KEYS_PATH}/action`,
  listPath: KEYS_PATH,
  list: "Gateway keys",
  nouns: ["key", "keys"],
  words: {
    ensure: {
      label: "Provide…",
      ask: (keys) => `Provide ${keys}?`,
      consequences: [
        "The service contacts the gateway now, without waiting for the next attempt. Working keys stay.",
      ],
      excepted: NO_ACCESS,
      verb: "Provide",
      done: (keys) => `${keys} provided`,
      doneRow: "Provided",
    },
    rotate: {
      label: "Replace…",
      ask: (keys) => `Replace ${keys}?`,
      consequences: [
        "Each old key works until the new one exists. Workstations fetch the new ones automatically.",
      ],
      excepted: NO_ACCESS,
      verb: "Replace",
      done: (keys) => `${keys} replaced`,
      doneRow: "Replaced",
      isSevere: true,
    },
    revoke: {
      label: "Revoke…",
      ask: (keys) => `Revoke ${keys}?`,
      consequences: [
        "Running sessions fail with their next request. Active users get new keys with the next one.",
        "The gateway revokes the old keys as soon as it can be reached.",
      ],
      verb: "Revoke",
      done: (keys) => `${keys} revoked`,
      doneRow: "Revoked",
      isSevere: true,
    },
  },
};

type Chosen = { addresses: readonly string[]; ids: readonly string[] } | { values: Values; expected: number };

/** @returns the filters of an address as options of `keys list` and `keys change` */
export const keyOptions = ({ q, state, problem, expires_within: within, user_id: user }: Values): string[] =>
  options({ q, state, user, problems: problem === "true", "expires-within": within });

/** @returns the equivalent command and request */
export function keyBulkEquivalents(action: BulkKeyAction, chosen: Chosen): Equivalents {
  const api = (body: object) =>
    ({ method: "POST", path: "/admin/gateway/keys/change", body: { action, ...body } }) as const;
  const command = (words: readonly string[]) => ["keys", "change", action, ...words];
  if ("ids" in chosen) return { command: command(chosen.addresses), api: api({ ids: chosen.ids }) };
  const { values, expected } = chosen;
  const { q, state, problem, expires_within, user_id } = values;
  const filter = { q, state, user_id, expires_within, ...(problem === "true" && { problem: true }) };
  return { command: command(optionsOrAll(keyOptions(values))), api: api({ filter, expected }) };
}
