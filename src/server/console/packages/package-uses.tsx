// How each harness uses a package: whether it is enabled, and its own settings. One form for each harness.
/** @jsxImportSource preact */
import type { HarnessKey } from "../../../domain/harnesses/harnesses.ts";
import { Hidden } from "../../pages/forms.tsx";
import { FORM_TEXT_BYTES_MAX } from "../long-form.ts";
import { harnessText } from "../own/words.ts";
import { ConsoleForm } from "../parts/form.tsx";
import { State, useReader } from "../parts/values.tsx";
import { packagePath } from "./words.ts";

export interface HarnessUse {
  harness: HarnessKey;
  isEnabled: boolean;
  /** as typed, or as in the draft: JSON; empty for none */
  settings: string;
  /** whether the form is open at first */
  isOpen: boolean;
}

interface UsesProps {
  id: string;
  uses: readonly HarnessUse[];
  /** text of the field `version`: see stated-version.ts */
  version: string;
}

export function Uses({ id, uses, version }: UsesProps) {
  const { mayAdminister } = useReader();
  return (
    <section aria-labelledby="uses">
      <h2 id="uses">Per harness</h2>
      {uses.map((use) => (
        <details key={use.harness} class="harness-use" open={use.isOpen}>
          <summary>
            {harnessText(use.harness)}{" "}
            <State tone={use.isEnabled ? "good" : "neutral"}>{use.isEnabled ? "On" : "Off"}</State>
            {use.settings !== "" && " with its own settings"}
          </summary>
          <ConsoleForm action={packagePath(id)} isInParts edits={use.isOpen ? "refused" : "saved"}>
            <Hidden name="act" value="use" />
            <Hidden name="version" value={version} />
            <Hidden name="harness" value={use.harness} />
            <fieldset disabled={!mayAdminister}>
              <legend class="visually-hidden">{harnessText(use.harness)}</legend>
              <Fields use={use} />
              {mayAdminister && (
                <button class="button" type="submit">
                  Save and review
                </button>
              )}
            </fieldset>
          </ConsoleForm>
        </details>
      ))}
    </section>
  );
}

function Fields({ use: { harness, isEnabled, settings } }: { use: HarnessUse }) {
  const id = `settings-${harness}`;
  return (
    <>
      <p>
        <label>
          <input type="checkbox" name="enabled" value="yes" checked={isEnabled} /> On
        </label>
      </p>
      <div class="field">
        <label for={id}>Settings, as JSON or YAML</label>
        <textarea
          id={id}
          name="settings"
          rows={6}
          class="code"
          spellcheck={false}
          autocapitalize="off"
          maxLength={FORM_TEXT_BYTES_MAX}
          aria-describedby={`${id}-hint`}
        >
          {settings}
        </textarea>
        <p class="hint" id={`${id}-hint`}>
          Each member replaces the same member of the package. Empty for none.
        </p>
      </div>
    </>
  );
}
