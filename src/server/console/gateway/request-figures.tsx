// Figures of requests: totals, curves, and the most used models and the most active users.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { REMOVED_ADDRESS, type SummaryView } from "../../../domain/inference/log/request-logs.ts";
import type { Figures } from "../../../domain/inference/log/summary/tally.ts";
import { asSentence } from "../../pages/words.ts";
import { fromStart } from "../list/address.ts";
import { AsCommand, type Equivalents } from "../parts/command.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { percentText } from "../parts/texts.ts";
import { Count, Facts, Text, useReader } from "../parts/values.tsx";
import { Curves, errorsOf } from "./request-curves.tsx";

/** Models and users that the page names. */
const NAMED = 5;

/** Figures, or the reason why there are none. */
export type ShownSummary = { view: SummaryView } | { refusal: string };

export function RequestFigures({
  summary,
  equivalents,
}: {
  summary: ShownSummary | undefined;
  equivalents: Equivalents;
}) {
  return (
    <section id="figures" class="apart" data-region aria-label="Figures">
      {summary && "refusal" in summary && (
        <p class="notice attention">No figures: {asSentence(summary.refusal)}</p>
      )}
      {summary && "view" in summary && summary.view.totals.requests > 0 && (
        <>
          <Totals totals={summary.view.totals} />
          <Curves view={summary.view} />
          <Groups view={summary.view} />
          <AsCommand {...equivalents} />
        </>
      )}
    </section>
  );
}

const Milliseconds = ({ value }: { value: number | null }) =>
  value === null ? (
    <Text value={null} />
  ) : (
    <>
      <Count value={value} /> ms
    </>
  );

const Totals = ({ totals }: { totals: Figures }) => (
  <Facts
    facts={[
      { label: "Requests", value: <Count value={totals.requests} /> },
      { label: "Refused here", value: <Share value={totals.refused} of={totals.requests} /> },
      { label: "Client errors", value: <Share value={totals.results.client_error} of={totals.requests} /> },
      { label: "Server errors", value: <Share value={totals.results.server_error} of={totals.requests} /> },
      { label: "No response", value: <Share value={totals.results.transport_error} of={totals.requests} /> },
      { label: "Latency, half within", value: <Milliseconds value={totals.p50Ms} /> },
      { label: "Latency, 95% within", value: <Milliseconds value={totals.p95Ms} /> },
    ]}
  />
);

const Share = ({ value, of }: { value: number; of: number }) => (
  <>
    <Count value={value} /> <span class="muted">{percentText(value, of)}</span>
  </>
);

function Groups({ view: { models, users } }: { view: SummaryView }) {
  const { url } = useReader();
  return (
    <div class="curves">
      <Group
        title="By model"
        rows={models.map(({ name, figures }) => ({
          key: name,
          figures,
          name: name === "" ? <span class="muted">none named</span> : <Text value={name} />,
          href: name === "" ? undefined : fromStart(url, { model: name }),
        }))}
      />
      <Group
        title="By user"
        rows={users.map(({ name, email, figures }) => ({
          key: name,
          figures,
          name:
            email === REMOVED_ADDRESS ? <span class="muted">a removed user</span> : <Text value={email} />,
          href: fromStart(url, { user: email === REMOVED_ADDRESS ? name : email }),
        }))}
      />
    </div>
  );
}

interface GroupRow {
  key: string;
  name: ComponentChildren;
  /** shows only these requests */
  href: string | undefined;
  figures: Figures;
}

function Group({ title, rows }: { title: string; rows: readonly GroupRow[] }) {
  const shown = rows.slice(0, NAMED);
  return (
    <section>
      <h2>{title}</h2>
      <table class="rows">
        <caption class="visually-hidden">{title}, most requests first</caption>
        <TableHead labels={["Name", { number: "Requests" }, { number: "Errors" }, { number: "95% (ms)" }]} />
        <tbody>
          {shown.map(({ key, name, href, figures }) => (
            <tr key={key}>
              <td data-label="Name">{href === undefined ? name : <a href={href}>{name}</a>}</td>
              <td data-label="Requests" class="number">
                <Count value={figures.requests} />
              </td>
              <td data-label="Errors" class="number">
                <Count value={errorsOf(figures)} />
              </td>
              <td data-label="95% (ms)" class="number">
                {figures.p95Ms === null ? <Text value={null} /> : <Count value={figures.p95Ms} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > NAMED && <p class="hint">The {NAMED} with the most requests.</p>}
    </section>
  );
}
