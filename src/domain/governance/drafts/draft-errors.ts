// Errors of drafts.
import { DomainError } from "../../../platform/errors.ts";
import { excerpt } from "../../../platform/text/problem-list.ts";

export const noDraft = (): DomainError =>
  new DomainError("not_found", "policy_draft.none", "there is no such draft of the policy", {
    hint: "a draft ends when it is published or discarded, or when nobody saves it for 30 days",
  });

export const draftNotShared = (): DomainError =>
  new DomainError("not_found", "policy_draft.not_shared", "the author of this draft does not share it", {
    hint: "the draft still exists; ask its author to share it",
  });

export const noPackage = (id: string): DomainError =>
  new DomainError("not_found", "policy_draft.no_package", `the draft has no package ${excerpt(id)}`, {
    hint: "it may have been removed; add it from the catalog, or discard the draft",
  });

/** @returns the error for an author who read a different version of the draft */
export const draftChanged = (): DomainError =>
  new DomainError("conflict", "policy_draft.changed", "the draft was saved elsewhere after you opened it", {
    hint: "read it again; nothing is lost",
  });

/** @returns the error for an author whose draft or revision no longer exists; the input is not saved, and may begin a new draft */
export const draftEnded = (): DomainError =>
  new DomainError(
    "conflict",
    "policy_draft.changed",
    "the draft or revision that you opened no longer exists: the draft was published or discarded, or a restore removed the revision",
    { hint: "check the current policy; saving again begins a new draft" },
  );

/** @param what for example `the text of the policy` */
export const brokenText = (what: string): DomainError =>
  new DomainError("conflict", "policy_draft.broken_text", `${what} has problems that must be solved first`, {
    hint: "correct that text, or discard it",
  });

export const secondAdministratorRequired = (): DomainError =>
  new DomainError(
    "forbidden",
    "policy_draft.second_administrator",
    "another administrator must publish this change",
    { hint: "share the draft and ask another administrator (setting policy.require_second_administrator)" },
  );

export const commentRequired = (reasons: readonly string[]): DomainError =>
  new DomainError(
    "invalid",
    "policy_draft.comment_required",
    `a comment is required: ${reasons.join(", ")}`,
    {
      problems: [{ pointer: "/comment", detail: `is required because ${reasons.join(" and ")}` }],
    },
  );

/** @returns the error for settings that cannot be changed without changing another value of the text */
export const notWritten = (why: string): DomainError =>
  new DomainError("conflict", "policy_draft.not_written", why);

export const USED_ELSEWHERE =
  "a setting that has a field is used in another place of the text; change it in the text";
