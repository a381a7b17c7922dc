// Discards the draft of the reader in the console, after a confirmation that shows the number of lost changes.
import { type DraftSummary, discardText, type TextName } from "../../../../domain/governance/service.ts";
import type { Actor } from "../../../../domain/shared/actor.ts";
import { DomainError } from "../../../../platform/errors.ts";
import type { Console, Done } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import { textLabel, textPath } from "../../../console/parts/broken-texts.tsx";
import { confirmationPage } from "../../../console/parts/form.tsx";
import { statedIn } from "../../../console/parts/stated-version.ts";
import {
  BREADCRUMBS,
  changesText,
  DISCARD_PATH,
  POLICY_PATH,
  REVIEW_PATH,
} from "../../../console/policy/words.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";

const STATED = formOf({ csrf: FormField, by: FormField, version: FormField });
const ACTION = { needs: "administrator" } as const;

/** @returns whether somebody saved the draft after its version was read */
export const isDraftChanged = (error: unknown): boolean =>
  error instanceof DomainError && error.reason === "policy_draft.changed";

/** For a second press or another tab after the draft has ended. Its notice replaces the first one. */
const ENDED: Done = {
  to: POLICY_PATH,
  notice: {
    kind: "attention",
    text: "The draft was published or discarded in the meantime, or there was none. This is the current policy.",
  },
};

const UNSHARED: Done = {
  to: POLICY_PATH,
  notice: {
    kind: "attention",
    text: "The author of this draft does not share it. This is the current policy.",
  },
};

/** @returns the result of the work; a redirect to the current policy if the draft has ended or is no longer shared */
export async function unlessEnded<Answer>(work: () => Promise<Answer>): Promise<Answer | Done> {
  try {
    return await work();
  } catch (error) {
    const { reason } = error instanceof DomainError ? error : {};
    if (reason === "policy_draft.none") return ENDED;
    if (reason === "policy_draft.not_shared") return UNSHARED;
    throw error;
  }
}

/** A text with problems is not counted as a change. */
export const unpublishedText = ({ changes }: Pick<DraftSummary, "changes">): string =>
  changes ? changesText(changes, "unpublished ") : "your unpublished changes";

/** @returns the confirmation of discarding a draft, and its form */
export function draftDiscardPages({ router, domain }: RouteContext, console: Console) {
  const { drafts } = domain.governance;
  const question = (actor: Actor, changed?: string) => {
    const draft = drafts.existing(actor);
    return confirmationPage({
      title: "Discard your draft",
      consequences: [`Discard ${unpublishedText(draft)}? They cannot be restored.`],
      fields: { version: String(draft.version) },
      action: DISCARD_PATH,
      verb: "Discard",
      back: REVIEW_PATH,
      breadcrumbs: BREADCRUMBS,
      changed,
      command: ["policy", "draft", "discard", actor.label],
      api: { method: "DELETE", path: "/admin/policy-draft" },
    });
  };
  return router
    .get(
      DISCARD_PATH,
      ({ request }) =>
        console.show(request, "administrator", ({ actor }) => unlessEnded(async () => question(actor))),
      pageRoute("showPolicyDiscard", "Asks before a draft is discarded"),
    )
    .post(
      DISCARD_PATH,
      ({ request, body }) =>
        console.act(request, body, { ...ACTION, back: REVIEW_PATH }, ({ actor }) =>
          unlessEnded(async () => {
            try {
              await drafts.discard(actor, drafts.existing(actor).id, statedIn(body.version));
            } catch (error) {
              if (!isDraftChanged(error)) throw error;
              return question(actor, SAVED_SINCE);
            }
            return { to: POLICY_PATH, notice: "The draft is discarded." };
          }),
        ),
      formRoute(STATED, formOperation("sendPolicyDiscard", "Discards the draft")),
    );
}

interface TextStep {
  name: TextName;
  /** of the form */
  fields: Readonly<Record<string, string | undefined>>;
}

/** Asks for confirmation, and then discards a text of the draft. */
export async function discardTextStep(
  { governance: { drafts } }: RouteContext["domain"],
  actor: Actor,
  { name, fields }: TextStep,
): Promise<ConsolePage | Done> {
  const question = (version: number) =>
    confirmationPage({
      title: "Discard a text",
      consequences: [
        `Discard ${textLabel(name)} as typed? It cannot be restored. The draft keeps its last version without problems, and everything else.`,
      ],
      fields: { version: String(version), act: "discard", confirmed: "yes" },
      action: textPath(name),
      verb: "Discard",
      back: textPath(name),
      breadcrumbs: BREADCRUMBS,
      api: { method: "PUT", path: "/admin/policy-draft", body: { version, discard_text: name } },
    });
  const stale: Done = { to: textPath(name), notice: { kind: "attention", text: TEXT_SAVED_SINCE } };
  return await unlessEnded(async () => {
    const { version } = statedIn(fields.version);
    if (version !== drafts.existing(actor).version) return stale;
    if (fields.confirmed !== "yes") return question(version);
    try {
      await discardText(drafts, actor, { version }, name);
    } catch (error) {
      if (isDraftChanged(error)) return stale;
      throw error;
    }
    return {
      to: textPath(name),
      notice: "The text is discarded. The draft has its last version without problems.",
    };
  });
}

const TEXT_SAVED_SINCE =
  "The draft was saved after that page was opened, so nothing is discarded. This is the current text.";
const SAVED_SINCE = "The draft was saved after this page was opened. Check the number of changes again.";
