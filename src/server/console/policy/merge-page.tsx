// The places that a draft and a newer revision changed differently: each is decided by itself.
/** @jsxImportSource preact */
import type { Conflict } from "../../../domain/governance/service.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { Text } from "../parts/values.tsx";
import { MERGE_PATH, placeText, REVIEW_PATH, TRAIL, valueText } from "./words.ts";

/** Places that the form asks about; further ones follow when these are decided. */
export const PLACES_ASKED_MAX = 40;

/** @returns the page that asks which value is taken */
export function mergePage({
  undecided,
  version,
}: {
  undecided: readonly Conflict[];
  version: number;
}): ConsolePage {
  const asked = undecided.slice(0, PLACES_ASKED_MAX);
  return {
    title: "Merge the draft",
    trail: [...TRAIL, { href: REVIEW_PATH, label: "Review" }],
    content: (
      <>
        <p>
          {undecided.length === 1 ? "One place was" : `${undecided.length} places were`} changed by both. The
          draft stays as it is until you have decided.
        </p>
        <ConsoleForm action={MERGE_PATH} edits="saved">
          <input type="hidden" name="version" value={String(version)} />
          {asked.map((conflict, at) => (
            <Place key={conflict.path} conflict={conflict} at={at} />
          ))}
          <div class="choices">
            <a class="button" href={REVIEW_PATH}>
              Cancel
            </a>
            <button class="button primary" type="submit">
              Merge
            </button>
          </div>
        </ConsoleForm>
      </>
    ),
  };
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
      <input type="hidden" name={`path${at}`} value={conflict.path} />
      {choices.map(([value, label, shown, isThere]) => (
        <label key={value}>
          <input type="radio" name={`choice${at}`} value={value} required /> {label}:{" "}
          <Text value={valueText(shown)} none={isThere ? "empty" : "removed"} />
        </label>
      ))}
    </fieldset>
  );
}
