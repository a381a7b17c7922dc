// The field `version` of a form that saves to a draft: the version of the draft, or, before there is a draft, 0 and the
// revision that the form shows. A new draft begins from that revision, so that later publications are merged instead of
// overwritten.
import type { StatedVersion } from "../../../domain/governance/service.ts";

/** @returns the text of the field */
export const versionText = ({ version, baseRevision }: StatedVersion): string =>
  version > 0 || !baseRevision ? String(version) : `0 ${baseRevision}`;

/** @returns the parsed field; any other text means a draft that does not exist yet */
export function statedIn(text: string | undefined): StatedVersion {
  const [, version = "0", baseRevision] = /^(\d{1,9})(?: ([\w-]{1,64}))?$/.exec(text ?? "") ?? [];
  return { version: Number(version), ...(baseRevision !== undefined && { baseRevision }) };
}

/** @returns the same as members of the equivalent request */
export function statedBody(text: string): { version: number; base_revision?: string } {
  const { version, baseRevision } = statedIn(text);
  return { version, ...(baseRevision !== undefined && { base_revision: baseRevision }) };
}
