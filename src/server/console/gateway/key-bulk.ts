// Actions on many gateway keys: their texts. The command and the API change one key at a time.
import type { BulkKeyAction } from "../../../domain/gateway/administration/bulk-key-changes.ts";
import type { BulkView } from "../list/bulk.tsx";
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
        "The gateway is asked now, even if the next attempt is planned for later. Working keys stay.",
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
        "Each old key works until the new one exists. Workstations get the new ones by themselves.",
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
      ],
      verb: "Revoke",
      done: (keys) => `${keys} revoked`,
      doneRow: "Revoked",
      isSevere: true,
    },
  },
};
