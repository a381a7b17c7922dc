// The form that assigns models to one agent. Saving changes the draft and publishes nothing.
/** @jsxImportSource preact */
import { GATEWAY_MODELS_MAX } from "../../../domain/governance/model.ts";
import type { Draft } from "../../../domain/governance/service.ts";
import type { HarnessKey } from "../../../domain/harnesses/harnesses.ts";
import type { ModelView } from "../../../domain/inference/models/view.ts";
import { MODEL_ID_CHARACTERS_MAX } from "../../../domain/shared/model-ids.ts";
import type { Problem } from "../../../platform/errors.ts";
import { ErrorSummary, Hidden } from "../../pages/forms.tsx";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { harnessText } from "../own/words.ts";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { LostComments } from "../parts/lost-comments.tsx";
import { SavedElsewhere } from "../parts/saved-elsewhere.tsx";
import { statedBody } from "../parts/stated-version.ts";
import { Facts, Text, useReader } from "../parts/values.tsx";
import { assignmentPath, MODEL_WORDS, MODELS_PATH, modelPath } from "./words.ts";

/** The values of the form. */
export interface AssignmentEntry {
  /** ids in the order of the policy */
  models: readonly string[];
  /** null for none */
  defaultModel: string | null;
}

export interface AssignmentPageProps {
  harness: HarnessKey;
  entry: AssignmentEntry;
  /** offered and assigned models */
  models: readonly ModelView[];
  /** text of the field `version`: see stated-version.ts */
  version: string;
  problems?: readonly Problem[];
  /** problems that do not concern the entered values */
  error?: string | undefined;
  /** the text of the policy in the draft, which saving rewrites */
  typed: Draft["typed"];
  /** the current values, if the draft was saved elsewhere after the form was opened */
  other?: AssignmentEntry | undefined;
}

/** Names of the form's fields: each box has its own, because a form has one value for each name. */
export const MODEL_FIELD = "model_";

export function assignmentPage(props: AssignmentPageProps): ConsolePage {
  const { harness, entry, problems = [], error, version, other } = props;
  return {
    title: `Models of ${harnessText(harness)}`,
    breadcrumbs: [{ href: MODELS_PATH, label: "Models" }],
    status: error !== undefined || other !== undefined ? 409 : problems.length > 0 ? 400 : 200,
    isError: problems.length > 0 || error !== undefined || other !== undefined,
    content: (
      <>
        <ErrorSummary error={error} />
        {other && (
          <SavedElsewhere version={version}>
            <Facts
              facts={[
                { label: "Models", value: <Text value={other.models.join(", ") || "none"} /> },
                {
                  label: "Starts with",
                  value: <Text value={other.defaultModel ?? "the agent's own choice"} />,
                },
              ]}
            />
          </SavedElsewhere>
        )}
        {problems.length > 0 && <Problems problems={problems} entry={entry} />}
        <LostComments typed={props.typed} act="saveHarness" />
        <AssignmentForm {...props} />
        <AsCommand
          command={["gateway", "models", "assign", harness, ...commandWords(entry)]}
          api={{
            method: "PUT",
            path: "/admin/policy-draft",
            body: {
              ...statedBody(version),
              models: { harness, gateway_models: entry.models, default_model: entry.defaultModel },
            },
          }}
        />
      </>
    ),
  };
}

const commandWords = ({ models, defaultModel }: AssignmentEntry): string[] => [
  ...(models.length === 0 ? ["--none"] : models),
  ...(defaultModel === null ? [] : ["--default", defaultModel]),
];

const Problems = ({ problems, entry }: { problems: readonly Problem[]; entry: AssignmentEntry }) => (
  <div class="error-summary" role="alert" tabIndex={-1} autofocus>
    <p>Nothing is saved yet.</p>
    <ul>
      {problems.map(({ pointer, detail }) => (
        <li key={pointer + detail}>
          <a href={pointer === "/default_model" ? "#default" : "#others"}>
            <Text value={problemText(pointer, { detail, entry })} />
          </a>
        </li>
      ))}
    </ul>
  </div>
);

/** @returns the sentence, with the id of its model */
function problemText(pointer: string, { detail, entry }: { detail: string; entry: AssignmentEntry }): string {
  const index = /^\/gateway_models\/(\d+)$/.exec(pointer)?.[1];
  const id = index === undefined ? undefined : entry.models[Number(index)];
  return id === undefined ? asSentence(detail) : `${id} ${detail}`;
}

function AssignmentForm(props: AssignmentPageProps) {
  const { harness, entry, models, version, problems = [], error, other } = props;
  const { mayAdminister } = useReader();
  const known = new Set(models.map(({ id }) => id));
  const others = entry.models.filter((id) => !known.has(id));
  const isRefused = problems.length > 0 || error !== undefined || other !== undefined;
  return (
    <ConsoleForm action={assignmentPath(harness)} isInParts edits={isRefused ? "refused" : "saved"}>
      <Hidden name="version" value={version} />
      <fieldset disabled={!mayAdminister}>
        <legend>Models that the agent may use, at most {GATEWAY_MODELS_MAX}</legend>
        {models.map((model, index) => (
          <ModelBox key={model.id} model={model} index={index} isChosen={entry.models.includes(model.id)} />
        ))}
        <div class="field">
          <label for="others">Other ids, one per line</label>
          <textarea id="others" name="others" rows={3} class="code" spellcheck={false} autocapitalize="off">
            {others.join("\n")}
          </textarea>
          <p class="hint">
            For models that the gateway does not list. An id has at most {MODEL_ID_CHARACTERS_MAX} characters.
          </p>
        </div>
        <div class="field narrow">
          <label for="default">The agent starts with</label>
          <input
            id="default"
            name="default"
            value={entry.defaultModel ?? ""}
            list="models"
            maxLength={MODEL_ID_CHARACTERS_MAX}
            autocomplete="off"
            aria-describedby="default-hint"
          />
          <datalist id="models">
            {models.map(({ id }) => (
              <option key={id} value={id} />
            ))}
          </datalist>
          <p class="hint" id="default-hint">
            One of the models above. Empty for the agent's own choice.
          </p>
        </div>
        {mayAdminister && (
          <div class="choices">
            <button class="button primary" type="submit">
              Save and review
            </button>
            <a class="button" href={MODELS_PATH}>
              Cancel
            </a>
          </div>
        )}
      </fieldset>
    </ConsoleForm>
  );
}

const ModelBox = ({ model, index, isChosen }: { model: ModelView; index: number; isChosen: boolean }) => (
  <p>
    <label>
      <input type="checkbox" name={`${MODEL_FIELD}${index}`} value={model.id} checked={isChosen} />{" "}
      <Text value={model.id} />
    </label>
    {model.state !== "available" && (
      <>
        {" "}
        <a href={modelPath(model.id)}>{MODEL_WORDS[model.state].label}</a>
      </>
    )}
  </p>
);
