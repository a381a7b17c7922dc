// The settings and packages that the policy gives the reader on one harness.
/** @jsxImportSource preact */
import type { Explanation, ShownPlaces } from "../../../domain/governance/service.ts";
import { HARNESS_KEYS, type HarnessKey } from "../../../domain/harnesses/harnesses.ts";
import type { Problem } from "../../../platform/errors.ts";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { pathWith } from "../list/address.ts";
import { FilterProblems } from "../list/filters.tsx";
import { AsCommand, options } from "../parts/command.tsx";
import { EXPLAINED_ROWS_MAX, NotShown } from "../parts/not-shown.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { Facts, Revision, State, Text, Time } from "../parts/values.tsx";
import { HiddenValues } from "../policy/hidden-values.tsx";
import { harnessText, NO_POLICY, OWN_POLICY_PATH, PACKAGE_WORDS, placeText } from "./words.ts";

export interface OwnPolicy {
  email: string;
  /** as in the address, even if the harness is unknown */
  harness: string;
  installed: string | undefined;
  /** undefined before the first revision and for an invalid address */
  explanation: Explanation | undefined;
  /** of its first values */
  shown?: ShownPlaces | undefined;
  problems?: readonly Problem[] | undefined;
}

/** @returns the page; it does not name packages that only other people get */
export function ownPolicyPage(view: OwnPolicy): ConsolePage {
  const { email, harness, installed, explanation, shown, problems = [] } = view;
  const query = new URLSearchParams({ harness, ...(installed !== undefined && { installed }) });
  return {
    title: "Your policy",
    status: problems.length > 0 ? 400 : 200,
    isError: problems.length > 0,
    content: (
      <>
        <Choice {...view} />
        {problems.length > 0 ? (
          <FilterProblems problems={problems} />
        ) : explanation === undefined ? (
          <div class="empty">
            <p>{NO_POLICY}</p>
          </div>
        ) : (
          <Explained explanation={explanation} shown={shown} installed={installed} />
        )}
        <AsCommand
          command={["policy", "explain", ...options({ user: email, harness, installed })]}
          api={{ method: "GET", path: pathWith("/me/policy/explain", query) }}
        />
      </>
    ),
  };
}

function Choice({ harness, installed = "" }: OwnPolicy) {
  const isKnown = HARNESS_KEYS.some((key) => key === harness);
  return (
    <search aria-label="Harness">
      <form class="filters" action={OWN_POLICY_PATH}>
        <div class="filter">
          <label for="filter-harness">Harness</label>
          <select id="filter-harness" name="harness">
            {HARNESS_KEYS.map((key) => (
              <option key={key} value={key} selected={key === harness}>
                {harnessText(key)}
              </option>
            ))}
            {!isKnown && (
              <option value={harness} selected>
                {harness}
              </option>
            )}
          </select>
        </div>
        <div class="filter">
          <label for="filter-installed">Installed version</label>
          <input
            id="filter-installed"
            name="installed"
            value={installed}
            placeholder="1.2.3"
            maxLength={64}
            autocomplete="off"
          />
        </div>
        <button class="button" type="submit">
          Show
        </button>
      </form>
    </search>
  );
}

interface ExplainedProps extends Pick<OwnPolicy, "installed" | "shown"> {
  explanation: Explanation;
}

function Explained({ explanation, installed, shown }: ExplainedProps) {
  const { revision, harness, isAllowed, isRequired, versionRefusal } = explanation;
  const mayRun = isAllowed && versionRefusal === undefined;
  return (
    <div>
      <p>
        <State tone={mayRun ? "good" : "bad"}>
          {runText(harness, { isAllowed, installed, versionRefusal })}
        </State>
      </p>
      {versionRefusal !== undefined && <p>{asSentence(versionRefusal)}</p>}
      <Facts
        facts={[
          { label: "Revision", value: <Revision sequence={revision.sequence} /> },
          { label: "Published", value: <Time at={revision.createdAtMs} /> },
          {
            label: "Without a fresh policy",
            value: isRequired ? "Does not run" : "Runs with the last policy",
          },
        ]}
      />
      <Values values={explanation.values} defaults={explanation.defaults} shown={shown} />
      <Packages packages={explanation.packages} />
    </div>
  );
}

function runText(
  harness: HarnessKey,
  {
    isAllowed,
    installed,
    versionRefusal,
  }: { isAllowed: boolean; installed: string | undefined; versionRefusal: string | undefined },
): string {
  if (!isAllowed) return `${harnessText(harness)} may not run`;
  if (versionRefusal !== undefined) return `${harnessText(harness)} ${installed} may not run`;
  return `${[harnessText(harness), installed].filter(Boolean).join(" ")} may run`;
}

function Values({
  values,
  defaults,
  shown,
}: Pick<Explanation, "values" | "defaults"> & Pick<OwnPolicy, "shown">) {
  return (
    <section aria-labelledby="values">
      <h2 id="values">Settings</h2>
      <HiddenValues isNeeded={shown?.hasSecrets} />
      {values.length === 0 ? (
        <p>The policy sets nothing here. You choose every setting yourself.</p>
      ) : (
        <table class="rows">
          <caption class="visually-hidden">Settings, and which of them the policy enforces</caption>
          <TableHead labels={["Setting", "Value", "Applies", { number: "Line of the policy" }]} />
          <tbody>
            {values.slice(0, EXPLAINED_ROWS_MAX).map(({ pointer, line }, at) => (
              <tr key={pointer}>
                <td data-label="Setting">
                  <Text value={placeText(pointer)} />
                </td>
                <td data-label="Value">
                  <Text value={shown?.texts[at]?.value} none="empty" />
                </td>
                <td data-label="Applies">
                  <State tone="good">Enforced</State>
                </td>
                <td data-label="Line of the policy" class="number">
                  {line}
                </td>
              </tr>
            ))}
            {defaults.map((pointer) => (
              <tr key={pointer}>
                <td data-label="Setting">
                  <Text value={placeText(pointer)} />
                </td>
                <td data-label="Value">
                  <span class="muted">default of the harness</span>
                </td>
                <td data-label="Applies">
                  <State tone="neutral">Yours to choose</State>
                </td>
                <td data-label="Line of the policy" class="number">
                  <span class="muted">–</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <NotShown total={values.length} />
    </section>
  );
}

function Packages({ packages }: Pick<Explanation, "packages">) {
  const offered = packages.filter(({ state }) => state !== "hidden");
  return (
    <section aria-labelledby="packages">
      <h2 id="packages">Packages</h2>
      {offered.length === 0 ? (
        <p>The policy offers you no packages.</p>
      ) : (
        <table class="rows">
          <caption class="visually-hidden">Packages of the policy</caption>
          <TableHead labels={["Package", "Version", "State"]} />
          <tbody>
            {offered.slice(0, EXPLAINED_ROWS_MAX).map(({ id, version, state }) => (
              <tr key={id}>
                <td data-label="Package">
                  <Text value={id} />
                </td>
                <td data-label="Version">
                  <Text value={version} />
                </td>
                <td data-label="State">
                  <State tone={state === "installed" ? "good" : "neutral"}>{PACKAGE_WORDS[state]}</State>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <NotShown total={offered.length} />
    </section>
  );
}
