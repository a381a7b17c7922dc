// Settles places where the policy does not follow the configuration file: keeps the value in force, or takes the file's in the draft.

import { DomainError } from "../../../../platform/errors.ts";
import type { Console, Done } from "../../../console/console.ts";
import { statedIn } from "../../../console/parts/stated-version.ts";
import { CONFLICTS_PATH, POLICY_PATH, placeText, REVIEW_PATH } from "../../../console/policy/words.ts";
import { FormField, formOf, formOperation, formRoute } from "../../../pages/html.ts";
import { asSentence } from "../../../pages/words.ts";
import type { RouteContext } from "../../../router.ts";

const SETTLED = formOf({
  ...{ csrf: FormField, by: FormField, version: FormField },
  ...{ draft: FormField, keep: FormField, take: FormField },
});

/** @returns the form that settles one place */
export const conflictPages = ({ router, domain: { governance } }: RouteContext, console: Console) =>
  router.post(
    CONFLICTS_PATH,
    ({ request, body }) =>
      console.act(request, body, { needs: "administrator", back: POLICY_PATH }, async ({ actor }) => {
        const { keep, take, version = "" } = body;
        const { drafts, fileConflicts } = governance;
        if (take !== undefined) {
          try {
            await drafts.takeFileValues(actor, statedIn(body.draft), [take]);
          } catch (error) {
            return notTaken(error);
          }
          const notice = `${placeText(take)}: your draft has the value of the file. Nothing is published yet.`;
          return { to: REVIEW_PATH, notice };
        }
        if (keep === undefined) throw nothingChosen();
        await fileConflicts.keep(actor, { version, paths: [keep] });
        return { to: POLICY_PATH, notice: `${placeText(keep)}: the value in force is kept.` };
      }),
    formRoute(SETTLED, formOperation("sendPolicyConflict", "Settles a conflict with the configuration file")),
  );

/** @returns why the value alone makes no valid policy, above the places @throws everything else */
function notTaken(error: unknown): Done {
  if (!(error instanceof DomainError) || error.reason !== "governance.invalid") throw error;
  const text = [error.message, error.hint ?? ""].map(asSentence).join(" ");
  return { to: POLICY_PATH, notice: { kind: "attention", text } };
}

const nothingChosen = () =>
  new DomainError("invalid", "policy_conflict.no_choice", "no place was chosen", {
    hint: "press one of the two buttons of a place",
  });
