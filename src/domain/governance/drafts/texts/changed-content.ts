// The content of a draft after its document or the text of a harness changed.
import type { HarnessKey } from "../../../harnesses/harnesses.ts";
import { carryOverAudiences } from "../../delivery/audiences.ts";
import { parseInTurn } from "../../publishing/validated.ts";
import { type DraftContent, isBroken, type TypedTexts } from "../draft-model.ts";

/** @param text the document as JSON; audiences of packages that it lacks end */
export async function withDocument(content: DraftContent, text: string): Promise<DraftContent> {
  const document = await parseInTurn(text);
  const audiences = carryOverAudiences(content.audiences, document.packages);
  return { ...content, document, audiences, typed: withoutFormer(content.typed) };
}

export const withoutFormer = ({ former: _former, ...typed }: TypedTexts): TypedTexts => typed;

/** The text of the policy also has the settings of the harness, so it is rewritten, unless it has problems. */
export const withHarness = (
  { policy, harnesses }: TypedTexts,
  harness: HarnessKey,
  typed: NonNullable<TypedTexts["harnesses"][HarnessKey]>,
): TypedTexts => ({
  ...(policy && isBroken(policy) && { policy }),
  harnesses: { ...harnesses, [harness]: typed },
});
