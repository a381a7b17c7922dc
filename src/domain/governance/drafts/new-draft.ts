// A draft that is not saved yet.
import { invariant } from "../../../platform/errors.ts";
import type { Actor } from "../../shared/actor.ts";
import { safeDefault } from "../document/safe-default.ts";
import type { Revision } from "../model.ts";
import type { GovernanceParts } from "../parts.ts";
import type { Draft } from "./draft-model.ts";

/** The base of a draft before the first revision: the content of a new installation. */
export const FIRST = { id: "", document: safeDefault(), audiences: {} };

/** @returns a draft of the user with the content of that revision */
export function newDraft(
  { clock, ids }: Pick<GovernanceParts, "clock" | "ids">,
  { id, organizationId }: Actor,
  { document, audiences, id: baseRevision }: Pick<Revision, "document" | "audiences" | "id">,
): Draft {
  invariant(id !== null, "only a user has a draft");
  const nowMs = clock.nowMs();
  const times = { createdAtMs: nowMs, savedAtMs: nowMs, changes: 0 };
  const own = { id: ids.uuid(), organizationId, ownerId: id, baseRevision };
  return { ...own, isShared: false, version: 0, document, audiences, typed: { harnesses: {} }, ...times };
}
