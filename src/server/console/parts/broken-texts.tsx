// Lists the texts of the draft whose problems block a form, with links to correct or discard each.
/** @jsxImportSource preact */
import type { TextName } from "../../../domain/governance/service.ts";
import { HARNESSES_PATH } from "../harnesses/harness-list.tsx";
import { harnessText } from "../own/words.ts";
import { EDIT_PATH } from "../policy/words.ts";

/** @returns for example `the text of Codex` */
export const textLabel = (name: TextName): string =>
  `the text of ${name === "policy" ? "the policy" : harnessText(name)}`;

/** @returns the page that has the text */
export const textPath = (name: TextName): string =>
  name === "policy" ? EDIT_PATH : `${HARNESSES_PATH}/${name}`;

/** @param effect the blocked action */
export const BrokenTexts = ({ names, effect }: { names: readonly TextName[]; effect: string }) =>
  names.length === 0 ? null : (
    <div class="error-summary" role="alert" tabIndex={-1}>
      <p>Part of the draft has problems. Correct it or discard it, before {effect}:</p>
      <ul>
        {names.map((name) => (
          <li key={name}>
            <a href={textPath(name)}>{textLabel(name)}</a>
          </li>
        ))}
      </ul>
    </div>
  );

/** The button of a form that leads to the confirmation of discarding its text. */
export const DiscardText = () => (
  <button class="button" type="submit" name="act" value="discard">
    Discard this text
  </button>
);
