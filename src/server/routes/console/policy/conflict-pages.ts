// Resolves conflicts between the policy and the configuration file: keeps the current value, or takes the file's value
// into the draft.

import type { Static } from "@sinclair/typebox";
import { brokenTexts, type Draft, type Governance } from "../../../../domain/governance/service.ts";
import type { Actor } from "../../../../domain/shared/actor.ts";
import { DomainError } from "../../../../platform/errors.ts";
import type { Console, Done } from "../../../console/console.ts";
import { textPath } from "../../../console/parts/broken-texts.tsx";
import { statedIn } from "../../../console/parts/stated-version.ts";
import { CONFLICTS_PATH, POLICY_PATH, placeText, REVIEW_PATH } from "../../../console/policy/words.ts";
import { FormField, formOf, formOperation, formRoute } from "../../../pages/html.ts";
import { asSentence } from "../../../pages/words.ts";
import type { RouteContext } from "../../../router.ts";

const SETTLED = formOf({
  csrf: FormField,
  by: FormField,
  version: FormField,
  draft: FormField,
  keep: FormField,
  take: FormField,
});

export const conflictPages = ({ router, domain: { governance } }: RouteContext, console: Console) =>
  router.post(
    CONFLICTS_PATH,
    ({ request, body }) =>
      console.act(request, body, { needs: "administrator", back: POLICY_PATH }, async ({ actor }) => {
        try {
          return await settle(governance, actor, body);
        } catch (error) {
          return notSettled(error, governance.drafts.own(actor));
        }
      }),
    formRoute(
      SETTLED,
      formOperation("sendPolicyConflict", "Resolves a conflict with the configuration file"),
    ),
  );

async function settle(
  { drafts, fileConflicts }: Governance,
  actor: Actor,
  { keep, take, version = "", draft }: Static<typeof SETTLED>,
): Promise<Done> {
  if (take !== undefined) {
    await fileConflicts.assertRead(actor, version);
    await drafts.takeFileValues(actor, statedIn(draft), [take]);
    const notice = `${placeText(take)}: your draft has the value of the file. Nothing is published yet.`;
    return { to: REVIEW_PATH, notice };
  }
  if (keep === undefined) throw nothingChosen();
  await fileConflicts.keep(actor, { version, paths: [keep] });
  return { to: POLICY_PATH, notice: `${placeText(keep)}: the value in force is kept.` };
}

/** @returns the page that shows the obstacle @throws everything else */
function notSettled(error: unknown, draft: Draft | undefined): Done {
  if (!(error instanceof DomainError)) throw error;
  const [broken] = draft ? brokenTexts(draft.typed) : [];
  if (error.reason === "policy_draft.broken_text" && broken)
    return { to: textPath(broken), notice: { kind: "attention", text: BROKEN } };
  if (!SHOWN_ABOVE.includes(error.reason)) throw error;
  const text = ["Nothing was settled", error.message, error.hint ?? "Look at the values again"].map(
    asSentence,
  );
  return { to: POLICY_PATH, notice: { kind: "attention", text: text.join(" ") } };
}

const SHOWN_ABOVE: readonly string[] = [
  "policy_conflict.none",
  "policy_conflict.changed",
  "policy_draft.changed",
];

const BROKEN =
  "Your draft has not taken the value of the file: correct this text first, or discard it, then take the value.";

const nothingChosen = () =>
  new DomainError("invalid", "policy_conflict.no_choice", "no place was chosen", {
    hint: "press one of the two buttons of a place",
  });
