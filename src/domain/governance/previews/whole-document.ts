// Checks a whole document that an administrator sends to see its effect. A pure function, because a thread may run it (tasks.ts).
import { type ArtifactReference, artifactReferences } from "../delivery/artifacts.ts";
import { readDraft } from "../document/draft.ts";
import { finalizeDocument, withoutRevisionFields } from "../publishing/finalize.ts";
import { type BaseRevisionText, judged, parse, refused, type Validated } from "../publishing/validated.ts";

/** @param input a document as JSON @returns it as it would be published, and the archives that it names */
export function validateDocument({
  input,
  base,
  frame,
}: BaseRevisionText & { input: string }): Validated & { references: ArtifactReference[] } {
  const { document, problems } = readDraft(JSON.parse(input));
  if (problems.length > 0) return { ...refused(problems), references: [] };
  const current = parse(base);
  const stamped = finalizeDocument(withoutRevisionFields(document), { ...frame, base: current, problems });
  const references = artifactReferences(stamped);
  return { ...(problems.length > 0 ? refused(problems) : judged(stamped, current)), references };
}
