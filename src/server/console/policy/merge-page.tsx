// The places that a draft and a newer revision changed differently. The reader decides each one.
/** @jsxImportSource preact */

import { Fragment } from "preact";
import { hasVariablesAt, withHiddenSides } from "../../../domain/governance/publishing/hidden-variables.ts";
import type { Conflict, Decision } from "../../../domain/governance/service.ts";
import { Hidden } from "../../pages/forms.tsx";
import type { ConsolePage } from "../frame/frame.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { Text, useReader } from "../parts/values.tsx";
import { withVariables } from "./variables.tsx";
import { MERGE_PATH, POLICY_PATH, placeText, REVIEW_PATH, TRAIL, valueText } from "./words.ts";

/** Places that the form asks about; further ones follow when these are decided. */
export const PLACES_ASKED_MAX = 40;

interface MergeProps {
  undecided: readonly Conflict[];
  /** by path: decisions of the previous pages, which the form sends again */
  decided: Readonly<Record<string, Decision>>;
  version: number;
}

/** @returns the page that asks which value to keep */
export function mergePage({ undecided, decided, version }: MergeProps): ConsolePage {
  const former = Object.entries(decided);
  const asked = undecided
    .slice(0, PLACES_ASKED_MAX)
    .map((place) => withHiddenSides(place, ["base", "theirs", "mine"]));
  return {
    title: "Merge the draft",
    trail: [...TRAIL, { href: REVIEW_PATH, label: "Review" }],
    content: (
      <>
        <p>
          {undecided.length === 1 ? "One place was" : `${undecided.length} places were`} changed by both
          {former.length > 0 && `, beside the ${former.length} that you have decided`}. The draft stays as it
          is until you have decided all of them.
        </p>
        <HiddenValues places={asked} />
        <ConsoleForm action={MERGE_PATH} isInParts edits={former.length > 0 ? "refused" : "saved"}>
          <Hidden name="version" value={String(version)} />
          {former.map(([path, choice], at) => (
            <Fragment key={path}>
              <Hidden name={`path${at}`} value={path} />
              <Hidden name={`choice${at}`} value={choice} />
            </Fragment>
          ))}
          {asked.map((conflict, at) => (
            <Place key={conflict.path} conflict={conflict} at={former.length + at} />
          ))}
          <div class="choices">
            <a class="button" href={REVIEW_PATH}>
              Cancel
            </a>
            <button class="button primary" type="submit">
              {asked.length < undecided.length ? "Go on" : "Merge"}
            </button>
          </div>
        </ConsoleForm>
      </>
    ),
  };
}

/** The page is the response to a form, so it has no address that could show them. */
function HiddenValues({ places }: { places: readonly Conflict[] }) {
  const { url } = useReader();
  const isNeeded = places.some(({ path, base, theirs, mine }) =>
    [base, theirs, mine].some((value) => hasVariablesAt(path, value)),
  );
  if (!isNeeded) return null;
  const linked = (path: string, label: string) => (
    <a href={withVariables(new URL(path, url))} target="_blank" rel="noopener">
      {label}
    </a>
  );
  return (
    <p class="hint">
      The values of the variables of MCP servers are hidden here. In a new tab, you can see those of{" "}
      {linked(REVIEW_PATH, "your draft")} and of {linked(POLICY_PATH, "the policy in force")}.
    </p>
  );
}

function Place({ conflict, at }: { conflict: Conflict; at: number }) {
  const choices = [
    ["theirs", "Published", conflict.theirs, "theirs" in conflict],
    ["mine", "Draft", conflict.mine, "mine" in conflict],
  ] as const;
  return (
    <fieldset>
      <legend>
        <Text value={placeText(conflict.path)} />
      </legend>
      <p class="hint">
        Before both: <Text value={valueText(conflict.base)} none={"base" in conflict ? "empty" : "not set"} />
      </p>
      <Hidden name={`path${at}`} value={conflict.path} />
      {choices.map(([value, label, shown, isThere]) => (
        <label key={value}>
          <input type="radio" name={`choice${at}`} value={value} required /> {label}:{" "}
          <Text value={valueText(shown)} none={isThere ? "empty" : "removed"} />
        </label>
      ))}
    </fieldset>
  );
}
