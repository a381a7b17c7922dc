// The places that a draft and a newer revision changed differently. The reader decides each one.
/** @jsxImportSource preact */

import { Fragment } from "preact";
import type { Decision, Undecided } from "../../../domain/governance/service.ts";
import { Hidden } from "../../pages/forms.tsx";
import type { ConsolePage } from "../frame/frame.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { Text, useReader } from "../parts/values.tsx";
import { withVariables } from "./variables.tsx";
import { BREADCRUMBS, MERGE_PATH, POLICY_PATH, placeText, REVIEW_PATH } from "./words.ts";

interface MergeProps {
  undecided: Undecided;
  /** by path: decisions of the previous pages, which the form sends again */
  decided: Readonly<Record<string, Decision>>;
  version: number;
}

/** @returns the page that asks which value to keep */
export function mergePage({ undecided, decided, version }: MergeProps): ConsolePage {
  const former = Object.entries(decided);
  const { count, listed: asked, isHidden } = undecided;
  return {
    title: "Merge the draft",
    breadcrumbs: [...BREADCRUMBS, { href: REVIEW_PATH, label: "Review" }],
    content: (
      <>
        <p>
          {count === 1 ? "One place was" : `${count} places were`} changed by both
          {former.length > 0 && `, beside the ${former.length} that you have decided`}. The draft stays as it
          is until you have decided all of them.
        </p>
        {isHidden && <HiddenValues />}
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
              {asked.length < count ? "Continue" : "Merge"}
            </button>
          </div>
        </ConsoleForm>
      </>
    ),
  };
}

/** The page is the response to a form, so it has no address that could show them. */
function HiddenValues() {
  const { url } = useReader();
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

function Place({ conflict, at }: { conflict: Undecided["listed"][number]; at: number }) {
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
        Before both: <Text value={conflict.base} none={"base" in conflict ? "empty" : "not set"} />
      </p>
      <Hidden name={`path${at}`} value={conflict.path} />
      {choices.map(([value, label, shown, isThere]) => (
        <label key={value}>
          <input type="radio" name={`choice${at}`} value={value} required /> {label}:{" "}
          <Text value={shown} none={isThere ? "empty" : "removed"} />
        </label>
      ))}
    </fieldset>
  );
}
