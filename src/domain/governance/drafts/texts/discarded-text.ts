// Discards one typed text of a draft, so that an uncorrected text does not block the draft.
import type { Actor } from "../../../shared/actor.ts";
import { readHarnessKey } from "../../publishing/publications.ts";
import { draftChanged } from "../draft-errors.ts";
import type { Draft, StatedVersion, TextName } from "../draft-model.ts";
import type { Drafts } from "../drafts.ts";

/**
 * The document of the draft stays, which has the last version of the text without problems.
 * @param name `policy`, or a harness
 * @throws DomainError `policy_draft.none`, `policy_draft.changed`, `governance.unknown_harness`
 */
export async function discardText(
  drafts: Drafts,
  actor: Actor,
  { version }: StatedVersion,
  name: string,
): Promise<Draft> {
  const text: TextName = name === "policy" ? name : readHarnessKey(name);
  const draft = drafts.existing(actor);
  if (draft.version !== version) throw draftChanged();
  const { policy, harnesses, ...rest } = draft.typed;
  const { document, audiences } = draft;
  const others = Object.entries(harnesses).filter(([key]) => key !== text);
  const typed = {
    ...rest,
    ...(text !== "policy" && policy && { policy }),
    harnesses: Object.fromEntries(others),
  };
  return await drafts.replace(actor, draft, { document, audiences, typed });
}
