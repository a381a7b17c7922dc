// The editor of the policy as text in the console. Saving changes the draft of the reader.
import { setImmediate } from "node:timers/promises";
import { DomainError } from "../../../../platform/errors.ts";
import type { Console, Done } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import type { Fields } from "../../../console/frame/kept-fields.tsx";
import { lengthProblem, withoutReturns } from "../../../console/long-form.ts";
import { statedIn, versionText } from "../../../console/parts/stated-version.ts";
import { editPage } from "../../../console/policy/edit-page.tsx";
import { EDIT_PATH, POLICY_PATH, REVIEW_PATH } from "../../../console/policy/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { formOperation, pageRoute, seeOther, uploadRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { discardTextStep, isDraftChanged } from "./draft-discard-pages.ts";

export function editPages({ router, domain }: RouteContext, console: Console) {
  const { drafts } = domain.governance;
  const save = saverOf(domain);
  return router
    .get(
      EDIT_PATH,
      ({ request }) =>
        console.show(request, "administrator", async ({ actor, mayAdminister }) => {
          if (!mayAdminister) return seeOther(POLICY_PATH); // the edited text has secrets
          const draft = drafts.ownOrFirst(actor);
          await setImmediate();
          const { policy, harnesses } = draft.typed;
          const shown = { version: versionText(draft), problems: policy?.problems ?? [], harnesses };
          return editPage({ text: await drafts.textOf(draft), ...shown });
        }),
      pageRoute("showPolicyEditor", "The policy as text"),
    )
    .post(
      EDIT_PATH,
      ({ request }) =>
        console.actLong(request, { needs: "administrator", back: EDIT_PATH }, (reader, fields) =>
          save(reader, fields),
        ),
      uploadRoute(formOperation("sendPolicyText", "Saves the text in the draft")),
    );
}

/** @returns a function that saves the text of the policy, and then shows its problems or opens the review */
const saverOf =
  (domain: RouteContext["domain"]) =>
  async ({ actor, organizationId }: Reader, fields: Fields): Promise<ConsolePage | Done> => {
    const { drafts, deployments, revisions } = domain.governance;
    if (fields.act === "discard") return await discardTextStep(domain, actor, { name: "policy", fields });
    const text = await setImmediate(withoutReturns(fields.text ?? ""));
    const stated = statedIn(fields.version);
    const error = lengthProblem(text);
    if (error !== undefined) return editPage({ text, version: versionText(stated), problems: [], error });
    // A draft needs a base revision, so the first one is published here as at a start.
    if (!revisions.current(organizationId)) await deployments.apply(actor, undefined);
    try {
      const draft = await drafts.savePolicy(actor, stated, text);
      const problems = draft.typed.policy?.problems ?? [];
      if (problems.length > 0 || fields.stay !== undefined)
        return editPage({ text, version: versionText(draft), problems });
      return { to: REVIEW_PATH, notice: "The draft is saved. Nothing is published yet." };
    } catch (error) {
      const other = drafts.ownOrNew(actor);
      const { harnesses } = other.typed;
      if (error instanceof DomainError && error.reason === "policy_draft.broken_text")
        return editPage({ text, version: versionText(stated), problems: [], harnesses, isClosed: true });
      if (!isDraftChanged(error)) throw error;
      const stored = await drafts.textOf(other);
      return editPage({ text, version: versionText(other), problems: [], other: stored });
    }
  };
