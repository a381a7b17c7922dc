// The form that changes one harness in the draft.
/** @jsxImportSource preact */
import { brokenTexts, type Draft, type HarnessInput } from "../../../domain/governance/service.ts";
import type { Problem } from "../../../platform/errors.ts";
import { ErrorSummary, Hidden } from "../../pages/forms.tsx";
import { type ConsolePage, longText } from "../frame/frame.tsx";
import { FORM_TEXT_BYTES_MAX } from "../long-form.ts";
import { harnessText } from "../own/words.ts";
import { BrokenTexts, DiscardText } from "../parts/broken-texts.tsx";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { LostComments } from "../parts/lost-comments.tsx";
import { SavedElsewhere, SavedText } from "../parts/saved-elsewhere.tsx";
import { statedBody, statedIn } from "../parts/stated-version.ts";
import { Count, Facts, Text, useReader } from "../parts/values.tsx";
import { SETTINGS_EDITOR } from "../policy/completions.ts";
import { HiddenFields } from "../policy/hidden-values.tsx";
import { REVIEW_PATH } from "../policy/words.ts";
import { HARNESSES_PATH, type HarnessView } from "./harness-list.tsx";
import { Versions } from "./harness-versions.tsx";
import { type SettingFields, SettingsFields } from "./settings-fields.tsx";

interface HarnessPageProps {
  view: HarnessView;
  /** as typed, or as in the draft */
  input: HarnessInput;
  /** text of the field `version`: see stated-version.ts */
  version: string;
  problems: readonly Problem[];
  /** why the entered values could not be saved */
  error?: string | undefined;
  /** the settings that have fields; undefined if the text cannot be read */
  fields: SettingFields | undefined;
  /** the text of the policy in the draft, which saving rewrites */
  typed: Draft["typed"];
  /** models that the gateway may serve to the harness */
  models: readonly string[];
  /** whether the page shows unsaved values */
  isUnsaved?: boolean;
  /** the current values, if the draft was saved elsewhere after the form was opened */
  other?: HarnessInput | undefined;
}

export function harnessPage(props: HarnessPageProps): ConsolePage {
  const { view, input, version, problems, error, other } = props;
  const settings = longText(input.managedConfigYaml);
  return {
    title: harnessText(view.harness),
    breadcrumbs: [{ href: HARNESSES_PATH, label: "Harnesses" }],
    isError: problems.length > 0 || error !== undefined || other !== undefined,
    status: error === undefined && other === undefined ? 200 : 409,
    longText: settings,
    hasEditor: true,
    content: (
      <>
        <ErrorSummary error={error} />
        <BrokenTexts names={brokenTexts(props.typed)} effect="this form is saved, which replaces it" />
        {other && <Other view={view} input={other} version={version} />}
        {problems.length > 0 && (
          <div class="error-summary" role="alert" tabIndex={-1} autofocus>
            <p>The draft is saved, but it cannot be published as it is.</p>
            <ul>
              {problems.map(({ pointer, detail, line }) => (
                <li key={pointer + detail}>
                  <a href={`#${FIELDS[pointer] ?? "settings"}`} data-line={line}>
                    {line !== undefined && <>Line {line}: </>}
                    <Text value={detail} />
                  </a>
                </li>
              ))}
            </ul>
          </div>
        )}
        <Facts
          facts={[
            {
              label: "Certified versions",
              value: view.certifiedBefore ? `below ${view.certifiedBefore}` : "none",
            },
            { label: "MCP servers", value: <Count value={view.servers} /> },
            { label: "Packages", value: <Count value={view.packages} /> },
          ]}
        />
        <HiddenFields texts={[input.managedConfigYaml]} />
        <LostComments typed={props.typed} act="saveHarness" />
        <Form {...props} input={{ ...input, managedConfigYaml: settings.mark }} />
        <Versions versions={view.versions} />
        <AsCommand
          api={{
            method: "PUT",
            path: "/admin/policy-draft",
            body: { ...statedBody(version), harness: { harness: view.harness, managed_config_yaml: "…" } },
          }}
        />
      </>
    ),
  };
}

const Other = ({
  view: { harness },
  input,
  version,
}: Pick<HarnessPageProps, "view" | "input" | "version">) => (
  <SavedElsewhere version={version}>
    <Facts
      facts={[
        { label: "May run", value: input.isAllowed ? "Yes" : "No" },
        {
          label: "Versions",
          value: `${input.versionRequirement ?? "any"}${input.allowUnverifiedVersions ? ", also not certified" : ""}`,
        },
      ]}
    />
    <SavedText
      label="The settings as they are now"
      text={input.managedConfigYaml}
      href={`${HARNESSES_PATH}/${harness}`}
    />
  </SavedElsewhere>
);

const FIELDS: Readonly<Record<string, string>> = {
  "/version_requirement": "requirement",
  "/allow_unverified_versions": "unverified",
};

function Form(props: HarnessPageProps) {
  const { input, version, error, fields, models, isUnsaved } = props;
  const { harness } = props.view;
  const { mayAdminister } = useReader();
  const edits = isUnsaved || error !== undefined ? "refused" : "saved";
  return (
    <ConsoleForm action={`${HARNESSES_PATH}/${harness}`} isInParts edits={edits}>
      <Hidden name="version" value={version} />
      <fieldset disabled={!mayAdminister}>
        <legend class="visually-hidden">What workstations may do with it</legend>
        <p>
          <label>
            <input type="checkbox" name="allowed" value="yes" checked={input.isAllowed} /> May run
          </label>
        </p>
        <div class="field narrow">
          <label for="requirement">Versions</label>
          <input
            id="requirement"
            name="requirement"
            value={input.versionRequirement ?? ""}
            placeholder=">=1.2, <2"
            maxLength={256}
            autocomplete="off"
            aria-describedby="requirement-hint"
          />
          <p class="hint" id="requirement-hint">
            Empty for any version. The table below shows what workstations have.
          </p>
        </div>
        <p>
          <label>
            <input
              id="unverified"
              type="checkbox"
              name="unverified"
              value="yes"
              checked={input.allowUnverifiedVersions}
            />{" "}
            Also versions that are not certified; needs a range
          </label>
        </p>
        {fields ? (
          <SettingsFields fields={fields} models={models} />
        ) : (
          <p class="hint">
            The text below cannot be read. Once it can, its common settings have fields here.
          </p>
        )}
        <SettingsText yaml={input.managedConfigYaml} />
        {mayAdminister && <Buttons {...props} />}
      </fieldset>
    </ConsoleForm>
  );
}

const SettingsText = ({ yaml }: { yaml: string }) => (
  <div class="field">
    <label for="settings">All settings, as YAML</label>
    <textarea
      id="settings"
      name="settings"
      rows={16}
      class="code"
      {...SETTINGS_EDITOR}
      spellcheck={false}
      autocapitalize="off"
      maxLength={FORM_TEXT_BYTES_MAX}
    >
      {yaml}
    </textarea>
    <p class="hint">
      Everything here is enforced. Users choose all other settings. The fields above edit parts of this text;
      the rest does not change.
    </p>
  </div>
);

const Buttons = ({ version, fields, problems }: HarnessPageProps) => (
  <div class="choices">
    <button class="button primary" type="submit">
      Save and review
    </button>
    {fields && (
      <button class="button" type="submit" name="act" value="write">
        Write the fields into the text
      </button>
    )}
    {problems.length > 0 && <DiscardText />}
    <a class="button" href={statedIn(version).version === 0 ? HARNESSES_PATH : REVIEW_PATH}>
      Cancel
    </a>
  </div>
);
