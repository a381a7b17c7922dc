// The part of the policy that administrators edit as YAML. Saving changes the draft and publishes nothing.
/** @jsxImportSource preact */
import { brokenTexts, type Draft } from "../../../domain/governance/service.ts";
import type { Problem } from "../../../platform/errors.ts";
import { ErrorSummary, Hidden } from "../../pages/forms.tsx";
import { type ConsolePage, longText } from "../frame/frame.tsx";
import { FORM_TEXT_BYTES_MAX } from "../long-form.ts";
import { BrokenTexts, DiscardText } from "../parts/broken-texts.tsx";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { LostComments } from "../parts/lost-comments.tsx";
import { SavedElsewhere, SavedText } from "../parts/saved-elsewhere.tsx";
import { statedBody, statedIn } from "../parts/stated-version.ts";
import { Text, useReader } from "../parts/values.tsx";
import { POLICY_EDITOR } from "./completions.ts";
import { BREADCRUMBS, EDIT_PATH, POLICY_PATH, REVIEW_PATH } from "./words.ts";

interface EditProps {
  /** as typed */
  text: string;
  /** text of the field `version`: see stated-version.ts */
  version: string;
  problems: readonly Problem[];
  error?: string | undefined;
  /** set if the draft was saved elsewhere in the meantime: the text as saved there */
  other?: string | undefined;
  /** the texts of harnesses in the draft; saving rewrites them, unless one has problems */
  harnesses?: Draft["typed"]["harnesses"];
  /** a save was refused because of those problems */
  isClosed?: boolean;
}

export function editPage(props: EditProps): ConsolePage {
  const { text, version, problems, error, other, harnesses = {}, isClosed = false } = props;
  const long = longText(text);
  return {
    title: "Edit the policy",
    breadcrumbs: BREADCRUMBS,
    isError: problems.length > 0 || other !== undefined || error !== undefined || isClosed,
    status: error === undefined ? (other === undefined && !isClosed ? 200 : 409) : 413,
    longText: long,
    hasEditor: true,
    content: (
      <>
        {other !== undefined && (
          <SavedElsewhere version={version}>
            <SavedText label="The text as it is now" text={other} href={EDIT_PATH} />
          </SavedElsewhere>
        )}
        <ErrorSummary error={error} />
        <BrokenTexts names={brokenTexts({ harnesses })} effect="this text is saved, which replaces it" />
        <LostComments typed={{ harnesses }} act="savePolicy" />
        <Problems problems={problems} />
        <Form
          mark={long.mark}
          version={version}
          isInvalid={problems.length > 0 || error !== undefined}
          hasProblems={problems.length > 0}
          isRefused={error !== undefined || other !== undefined || isClosed}
        />
        <EditCommand version={version} />
      </>
    ),
  };
}

/** The command prints the text, because no command writes a draft. */
function EditCommand({ version }: Pick<EditProps, "version">) {
  const { actor } = useReader();
  const isSaved = statedIn(version).version > 0;
  return (
    <AsCommand
      command={isSaved ? ["policy", "draft", "export", actor.label] : ["policy", "show"]}
      api={{
        method: "PUT",
        path: "/admin/policy-draft",
        body: { ...statedBody(version), managed_yaml: "…" },
      }}
    />
  );
}

const Problems = ({ problems }: { problems: readonly Problem[] }) =>
  problems.length === 0 ? null : (
    <div class="error-summary" role="alert" tabIndex={-1} autofocus data-problems>
      <p>The draft is saved, but it cannot be published as it is.</p>
      <ul>
        {problems.map(({ pointer, detail, line }) => (
          <li key={pointer + detail}>
            <a href="#text" data-line={line}>
              {line !== undefined && <>Line {line}: </>}
              <Text value={`${pointer} ${detail}`.trim()} />
            </a>
          </li>
        ))}
      </ul>
    </div>
  );

interface FormProps {
  mark: string;
  version: string;
  isInvalid: boolean;
  /** the stored text has problems */
  hasProblems: boolean;
  /** the draft has another text */
  isRefused: boolean;
}

function Form({ mark, version, isInvalid, hasProblems, isRefused }: FormProps) {
  return (
    <ConsoleForm action={EDIT_PATH} isInParts edits={isRefused ? "refused" : "saved"}>
      <Hidden name="version" value={version} />
      <div class="field">
        <label for="text">Policy without packages and MCP servers, as YAML</label>
        <textarea
          id="text"
          name="text"
          rows={32}
          class="code"
          {...POLICY_EDITOR}
          spellcheck={false}
          autocapitalize="off"
          maxLength={FORM_TEXT_BYTES_MAX}
          aria-invalid={isInvalid}
        >
          {mark}
        </textarea>
        <p class="hint">
          Saving publishes nothing. The review shows the changes and who gets them. The{" "}
          <a href="/help/policy-file">handbook</a> lists every member.
        </p>
      </div>
      <div class="choices">
        <button class="button primary" type="submit">
          Save and review
        </button>
        <button class="button" type="submit" name="stay" value="yes">
          Save
        </button>
        {hasProblems && <DiscardText />}
        <a class="button" href={statedIn(version).version === 0 ? POLICY_PATH : REVIEW_PATH}>
          Cancel
        </a>
      </div>
    </ConsoleForm>
  );
}
