// What a form that saves something in a draft was made from, as the text of its field `version`: the version of the draft; while
// there is none, 0 and the revision that the form shows. Then a draft begins from that revision, and what was published in the
// meantime is merged instead of overwritten.
import type { StatedVersion } from "../../../domain/governance/service.ts";

/** @returns the text of the field */
export const versionText = ({ version, baseRevision }: StatedVersion): string =>
  version > 0 || !baseRevision ? String(version) : `0 ${baseRevision}`;

/** @returns what the field says; a draft that does not exist yet for another text */
export function statedIn(text: string | undefined): StatedVersion {
  const [, version = "0", baseRevision] = /^(\d{1,9})(?: ([\w-]{1,64}))?$/.exec(text ?? "") ?? [];
  return { version: Number(version), ...(baseRevision !== undefined && { baseRevision }) };
}

/** @returns the same as members of the request that the form stands for */
export function statedBody(text: string): { version: number; base_revision?: string } {
  const { version, baseRevision } = statedIn(text);
  return { version, ...(baseRevision !== undefined && { base_revision: baseRevision }) };
}
