// The models of the gateway as a list, with the state of their discovery and the agents that they are assigned to.
/** @jsxImportSource preact */
import type { ListColumn } from "../../../domain/console/service.ts";
import { HARNESS_KEYS } from "../../../domain/harnesses/harnesses.ts";
import { MODEL_STATES } from "../../../domain/inference/models/model.ts";
import type { ModelCatalogView, ModelView } from "../../../domain/inference/models/view.ts";
import { type Page, PER_PAGE_DEFAULT } from "../../../domain/shared/page.ts";
import type { Problem } from "../../../platform/errors.ts";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { HARNESSES_PATH } from "../harnesses/harness-list.tsx";
import type { Column, Filter, List } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { harnessText } from "../own/words.ts";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { Count, Facts, State, Text, Time, useReader } from "../parts/values.tsx";
import { REVIEW_PATH } from "../policy/words.ts";
import { assignmentPath, MODEL_WORDS, MODELS_PATH, modelPath, REFRESH_PATH } from "./words.ts";

const FILTERS: readonly Filter[] = [
  { name: "q", label: "Search", kind: "search", hint: "Id or name" },
  {
    name: "state",
    label: "State",
    kind: "choice",
    choices: MODEL_STATES.map((value) => ({ value, label: MODEL_WORDS[value].label })),
  },
  {
    name: "harness",
    label: "Assigned to",
    kind: "choice",
    choices: HARNESS_KEYS.map((value) => ({ value, label: harnessText(value) })),
  },
];

export const MODEL_COLUMNS: readonly Column<ModelView, ListColumn<"/console/gateway/models">>[] = [
  {
    name: "id",
    label: "Model",
    cell: ({ id }) => (
      <a href={modelPath(id)}>
        <Text value={id} />
      </a>
    ),
    csv: ({ id }) => id,
    isWide: true,
  },
  {
    name: "display_name",
    label: "Name",
    cell: ({ display_name }) => <Text value={display_name} />,
    csv: ({ display_name }) => display_name,
  },
  {
    name: "state",
    label: "State",
    cell: ({ state }) => <ModelStateOf state={state} />,
    csv: ({ state }) => state,
  },
  {
    name: "assigned_to",
    label: "Assigned to",
    cell: ({ assigned_to }) => <Text value={assigned_to.map(harnessText).join(", ") || null} />,
    csv: ({ assigned_to }) => assigned_to.join(" "),
  },
  {
    name: "last_seen_at",
    label: "Last offered",
    cell: ({ last_seen_at }) => <Time at={last_seen_at} />,
    csv: ({ last_seen_at }) => last_seen_at,
  },
  {
    name: "first_seen_at",
    label: "First offered",
    cell: ({ first_seen_at }) => <Time at={first_seen_at} />,
    csv: ({ first_seen_at }) => first_seen_at,
    isOptional: true,
  },
];

export const ModelStateOf = ({ state }: Pick<ModelView, "state">) => (
  <State tone={MODEL_WORDS[state].tone}>{MODEL_WORDS[state].label}</State>
);

interface ModelListProps {
  view: ModelCatalogView;
  page: Page<ModelView> | undefined;
  problems?: readonly Problem[] | undefined;
  /** whether the assignments come from the reader's draft */
  isDraft: boolean;
}

export function modelListPage({ view, page, problems = [], isDraft }: ModelListProps): ConsolePage {
  const list: List<ModelView> = {
    noun: "models",
    filters: FILTERS,
    columns: MODEL_COLUMNS,
    rows: page?.items ?? [],
    idOf: ({ id }) => id,
    paging: page ?? { page: 1, perPage: PER_PAGE_DEFAULT, total: 0 },
    none: {
      text: "The gateway has not listed any model yet, and the policy assigns none.",
      purpose: "To read the list again, run on the server",
      command: ["gateway", "models", "refresh"],
    },
    problems,
    csvPath: `${MODELS_PATH}.csv`,
    command: ["gateway", "models", "list"],
    api: { method: "GET", path: "/admin/gateway/models" },
  };
  return {
    title: "Models",
    live: ["revision"],
    status: listStatus(list),
    isError: problems.length > 0,
    content: (
      <>
        {isDraft && (
          <p class="notice">
            These assignments are from your draft. <a href={REVIEW_PATH}>Review and publish it</a>
          </p>
        )}
        <Discovery view={view} />
        <Assignments view={view} />
        <h2>All models</h2>
        <ListView list={list} />
      </>
    ),
  };
}

function Discovery({
  view: { sync, refresh_interval_seconds: seconds, gateway_type },
}: {
  view: ModelCatalogView;
}) {
  const { mayAdminister } = useReader();
  return (
    <section id="discovery" data-region aria-labelledby="discovery-title">
      <h2 id="discovery-title">Discovery</h2>
      <Facts
        facts={[
          { label: "State", value: <DiscoveryState sync={sync} /> },
          { label: "Listed by", value: <Text value={gateway_type} /> },
          { label: "Last list", value: <Time at={sync.last_successful_refresh_at} /> },
          { label: "Last attempt", value: <Time at={sync.last_refresh_at} /> },
          {
            label: "Interval",
            value: (
              <>
                <Count value={seconds} /> seconds
              </>
            ),
          },
        ]}
      />
      {mayAdminister && (
        <ConsoleForm action={REFRESH_PATH}>
          <button class="button" type="submit">
            Refresh now
          </button>
        </ConsoleForm>
      )}
      <AsCommand
        command={["gateway", "models", "refresh"]}
        api={{ method: "POST", path: "/admin/gateway/models/refresh" }}
      />
    </section>
  );
}

function DiscoveryState({ sync }: Pick<ModelCatalogView, "sync">) {
  if (sync.discovery_supported === false)
    return <State tone="neutral">The provisioner cannot list models; enter their ids yourself</State>;
  if (sync.latest_error !== null)
    return (
      <>
        <State tone="bad">The last refresh failed</State> <Text value={asSentence(sync.latest_error)} />
      </>
    );
  if (sync.last_successful_refresh_at === null) return <State tone="neutral">Not refreshed yet</State>;
  return sync.stale ? (
    <State tone="attention">Older than two intervals</State>
  ) : (
    <State tone="good">Up to date</State>
  );
}

const DELIVERY: Readonly<Record<ModelCatalogView["assignments"], string>> = {
  none: "No agent has models. Agents use their built-in models.",
  incomplete:
    "An allowed agent has no models yet. Workstations get the lists once every allowed agent has one.",
  delivered: "Workstations get these lists.",
};

const Assignments = ({ view: { harnesses, assignments } }: { view: ModelCatalogView }) => (
  <section id="assignments" data-region aria-labelledby="assignments-title">
    <h2 id="assignments-title">Assignments</h2>
    <p>{DELIVERY[assignments]}</p>
    {harnesses.length === 0 ? (
      <p>
        The policy allows no agent yet. Allow one on the page of <a href={HARNESSES_PATH}>harnesses</a>.
      </p>
    ) : (
      <table class="rows">
        <caption class="visually-hidden">Models of each allowed agent</caption>
        <TableHead labels={["Agent", { number: "Models" }, "Starts with", "Shows"]} />
        <tbody>
          {harnesses.map(({ key, label, gateway_models: models, default_model: first, exposure }) => (
            <tr key={key}>
              <td data-label="Agent">
                <a href={assignmentPath(key)}>{label}</a>
              </td>
              <td data-label="Models" class="number">
                <Count value={models.length} />
              </td>
              <td data-label="Starts with">
                <Text value={first} none="its own choice" />
              </td>
              <td data-label="Shows">
                {exposure === "catalog" ? "every assigned model" : "only the first model"}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </section>
);
