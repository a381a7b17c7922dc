// One model of the gateway. Before a change is acknowledged, the page shows the former and the new figures.
/** @jsxImportSource preact */
import { type ModelView, modelDifferences } from "../../../domain/inference/models/view.ts";
import { ErrorSummary, Hidden } from "../../pages/forms.tsx";
import type { ConsolePage } from "../frame/frame.tsx";
import { harnessText } from "../own/words.ts";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { CopyableValue, Facts, Text, Time, useReader } from "../parts/values.tsx";
import { ModelStateOf } from "./model-list.tsx";
import { assignmentPath, MODELS_PATH, modelPath } from "./words.ts";

/** @returns the page of one model @param error why it could not be acknowledged */
export const modelPage = (model: ModelView, error?: string): ConsolePage => ({
  title: model.id,
  breadcrumbs: [{ href: MODELS_PATH, label: "Models" }],
  status: error === undefined ? 200 : 409,
  isError: error !== undefined,
  content: (
    <>
      <ErrorSummary error={error} />
      <Facts
        facts={[
          { label: "Id", value: <CopyableValue value={model.id} what="id" /> },
          { label: "Name", value: <Text value={model.display_name} /> },
          { label: "State", value: <ModelStateOf state={model.state} /> },
          { label: "Assigned to", value: <Assignees model={model} /> },
          { label: "First offered", value: <Time at={model.first_seen_at} /> },
          { label: "Last offered", value: <Time at={model.last_seen_at} /> },
        ]}
      />
      {model.state === "changed" ? <Change model={model} /> : <Metadata model={model} />}
    </>
  ),
});

const Assignees = ({ model: { assigned_to } }: { model: ModelView }) =>
  assigned_to.length === 0 ? (
    <>no agent</>
  ) : (
    <ul class="plain">
      {assigned_to.map((key) => (
        <li key={key}>
          <a href={assignmentPath(key)}>{harnessText(key)}</a>
        </li>
      ))}
    </ul>
  );

function Change({ model }: { model: ModelView }) {
  const { mayAdminister } = useReader();
  const differences = modelDifferences(model);
  return (
    <section aria-labelledby="change-title">
      <h2 id="change-title">What changed</h2>
      {differences.length === 0 ? (
        <>
          <p>An older version of the service acknowledged this model and did not keep its figures.</p>
          <Metadata model={model} />
        </>
      ) : (
        <table class="rows">
          <caption class="visually-hidden">Figures that changed since the model was acknowledged</caption>
          <TableHead labels={["Figure", "Acknowledged", "Now"]} />
          <tbody>
            {differences.map(({ figure, before, after }) => (
              <tr key={figure}>
                <td data-label="Figure">
                  <Text value={figure} />
                </td>
                <td data-label="Acknowledged">
                  <Text value={valueText(before)} none="none" />
                </td>
                <td data-label="Now">
                  <Text value={valueText(after)} none="none" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {mayAdminister && (
        <ConsoleForm action={modelPath(model.id)}>
          <Hidden name="fingerprint" value={model.fingerprint ?? ""} />
          <p>Acknowledging changes nothing at the gateway and nothing on workstations.</p>
          <button class="button primary" type="submit">
            Acknowledge the model as it is now
          </button>
        </ConsoleForm>
      )}
      <AsCommand
        command={["gateway", "models", "acknowledge", model.id]}
        api={{
          method: "POST",
          path: "/admin/gateway/models/acknowledge",
          body: { model_id: model.id, fingerprint: model.fingerprint },
        }}
      />
    </section>
  );
}

const Metadata = ({ model: { metadata } }: { model: ModelView }) =>
  metadata === null ? null : (
    <section aria-labelledby="metadata-title">
      <h2 id="metadata-title">Facts from the gateway</h2>
      <Facts
        facts={Object.entries(metadata).map(([label, value]) => ({
          label,
          value: <Text value={valueText(value)} none="none" />,
        }))}
      />
    </section>
  );

/** @returns a text unchanged, another value as JSON; undefined for none */
const valueText = (value: unknown): string | undefined =>
  typeof value === "string" ? value : JSON.stringify(value);
