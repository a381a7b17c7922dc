// `keys change`: provides, replaces or revokes the keys of many users.
import {
  BULK_KEY_ACTIONS,
  type BulkKeyAction,
  type KeySelection,
} from "../../../src/domain/gateway/administration/bulk-key-changes.ts";
import { invariant } from "../../../src/platform/errors.ts";
import { type BulkSelection, filterWords, requireOneSelection, runBulk, searchOf } from "../../bulk.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { userIdOf } from "./read.ts";
import { warnOfPendingRevocations } from "./view.ts";

type Filter = Extract<KeySelection, { text: string }>["filter"];

const PLANS: Readonly<Record<BulkKeyAction, { action: string; done: string; details: string[] }>> = {
  ensure: {
    action: "provide",
    done: "provided",
    details: ["All attempts are made now, without waiting for retry delays. Working keys stay."],
  },
  rotate: { action: "replace", done: "replaced", details: ["Each old key works until the new one exists."] },
  revoke: {
    action: "revoke",
    done: "revoked",
    details: ["The gateway revokes the keys too.", "Active users can request new keys."],
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

function chosenBy(call: Call, references: readonly string[]): BulkSelection<Filter> {
  const { domain, actor, text, has } = call;
  const words = filterWords(call, ["q", "user", "state", "expiresWithin", "problems"]);
  const filter = {
    q: searchOf(call),
    user_id: userIdOf(call),
    state: text("state"),
    expires_within: text("expiresWithin"),
    problem: has("problems") ? "true" : undefined,
  };
  requireOneSelection(
    call,
    { references, filters: words },
    {
      reason: "usage.which_keys",
      nothing: "name users, or select their keys with filters such as --state, or with --all",
      command: "keys change",
    },
  );
  if (references.length === 0) return { filter, text: words };
  const { users } = domain.identity;
  return { ids: references.map((reference) => users.find(actor.organizationId, reference).id) };
}
