// Lists the places where a draft and a newer revision conflict. The reader chooses a value for each.
/** @jsxImportSource preact */

import { Fragment } from "preact";
import type { Decision, DraftMerge, Undecided } from "../../../domain/governance/service.ts";
import { ErrorSummary, Hidden } from "../../pages/forms.tsx";
import type { ConsolePage } from "../frame/frame.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { LostComments } from "../parts/lost-comments.tsx";
import { Text, useReader } from "../parts/values.tsx";
import { withValues } from "./hidden-values.tsx";
import { BREADCRUMBS, MERGE_PATH, POLICY_PATH, placeText, REVIEW_PATH, revisionText } from "./words.ts";

interface MergeProps {
  merge: DraftMerge;
  /** number of places decided on previous pages */
  decided: number;
  /** choices for an earlier version of the draft, by path; they are proposed again */
  remembered: Readonly<Record<string, Decision>>;
  /** whether the draft was saved after the page of the choices was opened */
  isStale?: boolean;
  /** the page was sent without a choice for each place */
  isIncomplete?: boolean;
}

/** Prefix of the fields that carry remembered choices of places on later pages. */
export const REMEMBERED = "remembered_";

/** @returns the page that asks which value to keep */
export function mergePage(props: MergeProps): ConsolePage {
  const { merge, decided, remembered, isStale = false, isIncomplete = false } = props;
  const { draft, current, isBaseGone, undecided } = merge;
  const { count, listed: conflicts, isHidden } = undecided;
  const former = Object.entries(merge.decisions); // the form sends them again
  return {
    title: "Merge the draft",
    breadcrumbs: [...BREADCRUMBS, { href: REVIEW_PATH, label: "Review" }],
    ...(isIncomplete && { status: 400, isError: true }),
    ...(isStale && { status: 409, isError: true }),
    content: (
      <>
        {isStale && (
          <p class="error-summary" role="alert" tabIndex={-1} autofocus>
            Your draft was saved elsewhere after you opened this page, so nothing was merged. Your choices are
            kept below: look at the values of these places again.
          </p>
        )}
        {isIncomplete && <ErrorSummary error="choose a value for each place; nothing was merged" />}
        <p>
          {isBaseGone
            ? `The draft differs from ${revisionText(current)} in ${count === 1 ? "one place" : `${count} places`}`
            : `${count === 1 ? "One place was" : `${count} places were`} changed by both`}
          {former.length > 0 && `, in addition to the ${former.length} that you have decided`}. The draft
          stays as it is until you have decided all of them.
        </p>
        <LostComments typed={draft.typed} act="merge" />
        {former.length < decided && (
          <p class="error-summary" role="alert">
            {revisionText(current)} is current now, and its values differ from those you decided on. Decide
            these places again.
          </p>
        )}
        {isHidden && <Elsewhere />}
        <ConsoleForm
          action={MERGE_PATH}
          isInParts
          edits={isStale || isIncomplete || former.length > 0 ? "refused" : "saved"}
        >
          <Hidden name="version" value={String(draft.version)} />
          <Hidden name="current" value={current.id} />
          {former.map(([path, choice], at) => (
            <Fragment key={path}>
              <Hidden name={`path${at}`} value={path} />
              <Hidden name={`choice${at}`} value={choice} />
            </Fragment>
          ))}
          {conflicts.map((conflict, at) => (
            <Place
              key={conflict.path}
              conflict={conflict}
              at={former.length + at}
              isBaseGone={isBaseGone}
              proposed={remembered[conflict.path]}
            />
          ))}
          <Remembered choices={remembered} conflicts={conflicts} />
          <div class="choices">
            <a class="button" href={REVIEW_PATH}>
              Cancel
            </a>
            <button class="button primary" type="submit">
              {conflicts.length < count ? "Continue" : "Merge"}
            </button>
          </div>
        </ConsoleForm>
      </>
    ),
  };
}

/** Carries the remembered choices of the places that a later page asks about. */
function Remembered({ choices, conflicts }: RememberedProps) {
  const later = Object.entries(choices).filter(
    ([path]) => !conflicts.some((conflict) => conflict.path === path),
  );
  return later.map(([path, choice], at) => (
    <Fragment key={path}>
      <Hidden name={`${REMEMBERED}path${at}`} value={path} />
      <Hidden name={`${REMEMBERED}choice${at}`} value={choice} />
    </Fragment>
  ));
}

interface RememberedProps {
  choices: MergeProps["remembered"];
  conflicts: Undecided["listed"];
}

/** The page is the response to a form, so it has no address that could show them. */
function Elsewhere() {
  const { url } = useReader();
  const linked = (path: string, label: string) => (
    <a href={withValues(new URL(path, url))} target="_blank" rel="noopener">
      {label}
    </a>
  );
  return (
    <p class="hint">
      Values that may be secrets are hidden here. In a new tab, you can see the values of{" "}
      {linked(REVIEW_PATH, "your draft")} and of {linked(POLICY_PATH, "the policy in force")}.
    </p>
  );
}

interface PlaceProps {
  conflict: Undecided["listed"][number];
  at: number;
  isBaseGone: boolean;
  /** the choice for an earlier version of the draft */
  proposed: Decision | undefined;
}

function Place({ conflict, at, isBaseGone, proposed }: PlaceProps) {
  const choices = [
    ["theirs", "Published", conflict.theirs, "theirs" in conflict],
    ["mine", "Draft", conflict.mine, "mine" in conflict],
  ] as const;
  return (
    <fieldset>
      <legend>
        <Text value={placeText(conflict.path)} />
        {conflict.order && ": order"}
      </legend>
      {!isBaseGone && (
        <p class="hint">
          Before both: <Text value={conflict.base} none={"base" in conflict ? "empty" : "not set"} />
        </p>
      )}
      <Hidden name={`path${at}`} value={conflict.path} />
      {choices.map(([value, label, shown, isThere]) => (
        <label key={value}>
          <input type="radio" name={`choice${at}`} value={value} checked={value === proposed} required />{" "}
          {label}: <Text value={shown} none={isThere ? "empty" : isBaseGone ? "not set" : "removed"} />
        </label>
      ))}
    </fieldset>
  );
}
