// The effect of the policy on one person and one harness: every value with its line, and every package with its state.
// It can be compared with another person, another revision, or the reader's draft.
/** @jsxImportSource preact */
import type { Explanation } from "../../../domain/governance/service.ts";
import { HARNESS_KEYS } from "../../../domain/harnesses/harnesses.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { FilterProblems } from "../list/filters.tsx";
import { harnessText, PACKAGE_WORDS, placeText } from "../own/words.ts";
import { AsCommand, options } from "../parts/command.tsx";
import type {
  ComparedRows,
  Comparison,
  Explained,
  ExplainedPackage,
  ShownValue,
} from "../parts/explained-rows.ts";
import { LineLink } from "../parts/line-link.tsx";
import { NotShown } from "../parts/not-shown.tsx";
import { State, Text } from "../parts/values.tsx";
import { HiddenValues } from "./hidden-values.tsx";
import { BREADCRUMBS, EXPLAIN_PATH, HISTORY_PATH } from "./words.ts";

export interface ExplainRequest {
  user: string;
  harness: string;
  installed: string;
  revision: string;
  /** compare with */
  withUser: string;
  withRevision: string;
  withDraft: boolean;
}

interface ExplainProps {
  explainRequest: ExplainRequest;
  comparison: Comparison;
  problems?: readonly Problem[];
  hasDraft: boolean;
}

/** @returns the query without empty values */
const queryOf = (values: Readonly<Record<string, string>>): URLSearchParams =>
  new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ""));

export function explainPage({
  explainRequest,
  comparison,
  problems = [],
  hasDraft,
}: ExplainProps): ConsolePage {
  const { user, harness, installed, revision } = explainRequest;
  return {
    title: "Explain the policy",
    breadcrumbs: BREADCRUMBS,
    status: problems.length > 0 ? 400 : 200,
    isError: problems.length > 0,
    content: (
      <>
        <Question explainRequest={explainRequest} hasDraft={hasDraft} />
        {problems.length > 0 ? (
          <FilterProblems problems={problems} />
        ) : comparison.sides.length === 0 ? (
          <div class="empty">
            <p>Enter the address of a person to see what the policy sets for them, line by line, and why.</p>
          </div>
        ) : (
          <Compared {...comparison} />
        )}
        {user !== "" && (
          <AsCommand
            command={["policy", "explain", ...options({ user, harness, installed, revision })]}
            api={{
              method: "GET",
              path: `/admin/governance-config/explain?${queryOf({ user_id: user, harness, installed, revision })}`,
            }}
          />
        )}
      </>
    ),
  };
}

function Question({ explainRequest, hasDraft }: { explainRequest: ExplainRequest; hasDraft: boolean }) {
  const text = (name: string, label: string, value: string, hint?: string) => (
    <div class="filter">
      <label for={`filter-${name}`}>{label}</label>
      <input
        id={`filter-${name}`}
        name={name}
        value={value}
        placeholder={hint}
        maxLength={254}
        autocomplete="off"
      />
    </div>
  );
  return (
    <search aria-label="Question">
      <form class="filters" action={EXPLAIN_PATH}>
        {text("user", "Person", explainRequest.user, "ana@example.org")}
        <div class="filter">
          <label for="filter-harness">Harness</label>
          <select id="filter-harness" name="harness">
            {HARNESS_KEYS.map((key) => (
              <option key={key} value={key} selected={key === explainRequest.harness}>
                {harnessText(key)}
              </option>
            ))}
          </select>
        </div>
        {text("installed", "Installed version", explainRequest.installed, "1.2.3")}
        {text("revision", "Revision", explainRequest.revision, "current")}
        {text("with_user", "Compare with person", explainRequest.withUser)}
        {text("with_revision", "Compare with revision", explainRequest.withRevision)}
        {hasDraft && (
          <div class="filter">
            <label>
              <input type="checkbox" name="with_draft" value="yes" checked={explainRequest.withDraft} />{" "}
              Compare with my draft
            </label>
          </div>
        )}
        <button class="button" type="submit">
          Explain
        </button>
      </form>
    </search>
  );
}

const MayRun = ({ sides }: { sides: readonly Explained[] }) => (
  <section aria-labelledby="may-run">
    <h2 id="may-run">May it run?</h2>
    <ul class="plain">
      {sides.map((side) => (
        <li key={side.label}>
          <State tone={refusalOf(side) === undefined ? "good" : "bad"}>
            {refusalOf(side) === undefined ? "Yes" : "No"}
          </State>{" "}
          <Text value={side.label} />
          {refusalOf(side) !== undefined && <>: {refusalOf(side)}</>}
        </li>
      ))}
    </ul>
  </section>
);

function Compared({ sides, values, packages, hasSecrets }: Comparison) {
  return (
    <>
      <MayRun sides={sides} />
      <section aria-labelledby="values">
        <h2 id="values">Settings</h2>
        <p>
          A setting of this table is enforced. The person chooses everything else.{" "}
          <a href={`${HISTORY_PATH}/${sides[0]?.explanation.revision.id}#text`}>The text with its lines</a>
        </p>
        <HiddenValues isNeeded={hasSecrets} />
        <Rows
          sides={sides}
          rows={values}
          caption="Enforced settings"
          first="Setting"
          none="The policy sets nothing for this harness."
          cellOf={(value, { revision }) => <Setting {...value} revision={revision.id} />}
          nameOf={placeText}
        />
      </section>
      <section aria-labelledby="packages">
        <h2 id="packages">Packages</h2>
        <Rows
          sides={sides}
          rows={packages}
          caption="Packages of the policy"
          first="Package"
          none="The policy has no packages."
          cellOf={(managed) => <PackageState {...managed} />}
          nameOf={(id) => id}
        />
      </section>
    </>
  );
}

function Setting({ text, line, revision }: Omit<ShownValue, "pointer"> & { revision: string }) {
  return (
    <>
      <Text value={text} none="empty" />
      {line !== undefined && (
        <>
          {" "}
          <small>
            <LineLink revision={revision} line={line} />
          </small>
        </>
      )}
    </>
  );
}

const PackageState = ({ version, state }: ExplainedPackage) => (
  <>
    <State tone={state === "installed" ? "good" : "neutral"}>{PACKAGE_WORDS[state]}</State>{" "}
    <Text value={version} />
  </>
);

const refusalOf = ({ refusal, explanation }: Explained): string | undefined =>
  refusal ?? (explanation.isAllowed ? explanation.versionRefusal : "the policy does not allow this harness");

interface RowsProps<Row> {
  sides: readonly Explained[];
  rows: ComparedRows<Row>;
  caption: string;
  first: string;
  none: string;
  cellOf(row: Row, explanation: Explanation): preact.ComponentChildren;
  /** @returns the name of a row for people */
  nameOf(key: string): string;
}

function Rows<Row>({ sides, rows: { total, shown }, caption, first, none, cellOf, nameOf }: RowsProps<Row>) {
  if (total === 0) return <p>{none}</p>;
  return (
    <>
      <table class="rows">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{first}</th>
            {sides.map(({ label }) => (
              <th scope="col" key={label}>
                <Text value={label} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ key, cells }) => (
            <tr key={key}>
              <td data-label={first}>
                <Text value={nameOf(key)} />
              </td>
              {sides.map(({ label, explanation }, at) => {
                const row = cells[at];
                return (
                  <td data-label={label} key={label}>
                    {row ? cellOf(row, explanation) : <span class="muted">not set</span>}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <NotShown total={total} />
    </>
  );
}
