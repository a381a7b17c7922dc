// `keys change`: provides, replaces or revokes the keys of many users.
import {
  BULK_KEY_ACTIONS,
  type BulkKeyAction,
  type KeySelection,
} from "../../../src/domain/gateway/administration/bulk-key-changes.ts";
import { DomainError, invariant } from "../../../src/platform/errors.ts";
import { type BulkSelection, runBulk, searchOf } from "../../bulk.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { warnOfPendingRevocations } from "./view.ts";

type Filter = Extract<KeySelection, { text: string }>["filter"];

const PLANS: Readonly<Record<BulkKeyAction, { action: string; done: string; details: string[] }>> = {
  ensure: {
    action: "provide",
    done: "provided",
    details: [
      "The gateway is asked now, also where the next attempt is planned for later. Working keys stay.",
    ],
  },
  rotate: { action: "replace", done: "replaced", details: ["Each old key works until the new one exists."] },
  revoke: {
    action: "revoke",
    done: "revoked",
    details: ["The gateway revokes the keys, too.", "Active users can request new keys."],
  },
};

export async function change(call: Call): Promise<void> {
  const { domain, actor } = call;
  const { bulkKeys } = domain.gateway;
  const [word, ...references] = call.args;
  const act = BULK_KEY_ACTIONS.find((known) => known === word);
  invariant(act, "commander checked the action");
  const { action: verb, done, details } = PLANS[act];
  await runBulk<Filter>(call, {
    chosen: chosenBy(call, references),
    nouns: ["gateway key", "gateway keys"],
    action: (keys) => `${verb} ${keys}`,
    details,
    done: (keys) => `${done} ${keys}`,
    count: (chosen) => bulkKeys.count(actor.organizationId, chosen),
    slice: ({ selection, ...slice }) => bulkKeys.slice(actor, { act, selection, ...slice }),
  });
  warnOfPendingRevocations(call);
}

function chosenBy({ domain, actor, text, has }: Call, references: readonly string[]): BulkSelection<Filter> {
  const filter = {
    q: searchOf({ text }),
    state: text("state"),
    expires_within: text("expiresWithin"),
    problem: has("problems") ? "true" : undefined,
  };
  const words = Object.entries(filter).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  if (references.length > 0 === words.length > 0) throw unclear();
  const { users } = domain.identity;
  if (references.length > 0)
    return { ids: references.map((reference) => users.find(actor.organizationId, reference).id) };
  return { filter, text: new URLSearchParams(words).toString() };
}

const unclear = (): DomainError =>
  new DomainError(
    "invalid",
    "usage.which_keys",
    "name either users, or --q, --state, --expires-within or --problems",
    { hint: "run: quartermaster keys change --help" },
  );
