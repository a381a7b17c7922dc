// The rollout of one revision: shares, a curve since its publication, refusals by reason, and workstations that do not report.
/** @jsxImportSource preact */

import type { HealthCounts, Rollout } from "../../../domain/clients/service.ts";
import type { Revision } from "../../../domain/governance/service.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import { Empty, WORKSTATION_STEP } from "../list/first-step.tsx";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { exactTime, numberText, percentText } from "../parts/texts.ts";
import { Count, Facts, Text, Time, useReader } from "../parts/values.tsx";
import type { Reader } from "../reader.ts";
import { BREADCRUMBS, exampleText, HISTORY_PATH, revisionText } from "./words.ts";

const KINDS = ["current", "outdated", "attention"] as const;
const WORDS = { current: "Follow it", outdated: "Not yet", attention: "Need attention" } as const;
const COUNTS = KINDS.map((kind) => ({ number: WORDS[kind] }));

const totalOf = (counts: HealthCounts): number => KINDS.reduce((sum, kind) => sum + counts[kind], 0);

/** @param former the revision before it; undefined for the first one @returns the page of the rollout */
export function rolloutPage(rollout: Rollout, former: Revision | undefined): ConsolePage {
  const { revision, isInForce, workstations } = rollout;
  const total = totalOf(workstations);
  const name = revisionText(revision);
  return {
    title: `Rollout of ${name}`,
    breadcrumbs: [...BREADCRUMBS, { href: HISTORY_PATH, label: "History" }],
    live: ["clients", "revision"],
    content: (
      <>
        <section id="arrival" data-region aria-label="Arrival">
          {total === 0 ? (
            <Empty
              {...WORKSTATION_STEP}
              text={
                <>
                  No workstation has reported yet.{" "}
                  <a href="/help/workstations">How to connect the first one</a>
                </>
              }
            />
          ) : (
            <Arrival rollout={rollout} total={total} />
          )}
        </section>
        <p>
          Published <Time at={revision.createdAtMs} /> by <Text value={revision.authorLabel} />.{" "}
          {!isInForce && "It is not the current revision. "}
          <a href={`${HISTORY_PATH}/${revision.id}`}>
            {isInForce ? "Its content" : "Its content, and how to go back to it"}
          </a>
        </p>
        {isInForce && former && <GoBack former={former} />}
        <Curve samples={rollout.samples} />
        <Refusals rollout={rollout} />
        <Groups
          title="Workstations with each harness"
          label="Harness"
          groups={rollout.harnesses}
          hint="A workstation counts in the row of each of its harnesses, even if only one of them needs attention."
        />
        <Groups title="By version of the client" label="Version" groups={rollout.clientVersions} />
        <AsCommand
          command={["policy", "rollout", String(revision.sequence)]}
          api={{ method: "GET", path: `/admin/governance-config/revisions/${revision.id}/rollout` }}
        />
      </>
    ),
  };
}

function GoBack({ former }: { former: Revision }) {
  if (!useReader().mayAdminister) return null;
  const name = revisionText(former);
  return (
    <ConsoleForm action={`${HISTORY_PATH}/${former.id}/draft`}>
      <button class="button" type="submit">
        Go back to {name}
      </button>
      <p class="hint">Creates a draft with the content of {name}, and opens the review.</p>
    </ConsoleForm>
  );
}

function Arrival({ rollout, total }: { rollout: Rollout; total: number }) {
  const { workstations, notSeenSince, notSeenByDays } = rollout;
  return (
    <>
      <p>
        <strong>{percentText(workstations.current, total)}</strong> of <Count value={total} /> workstations
        follow it.
      </p>
      <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect class="whole" width="100" height="1" />
        <rect class="part" width={(100 * workstations.current) / total} height="1" />
      </svg>
      <Facts
        facts={[
          ...KINDS.map((kind) => ({ label: WORDS[kind], value: <Count value={workstations[kind]} /> })),
          { label: "Not seen since", value: <Count value={notSeenSince} /> },
          ...notSeenByDays
            .filter(({ clients }) => clients > 0)
            .map(({ days, clients }) => ({
              label: `Not seen for ${days === 1 ? "a day" : `${days} days`}`,
              value: <Count value={clients} />,
            })),
        ]}
      />
    </>
  );
}

/** Height of the curve in its own units. */
const HEIGHT = 100;

function Curve({ samples }: Pick<Rollout, "samples">) {
  const { zone, language } = useReader();
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || samples.length < 2)
    return (
      <p class="muted">
        The service counts workstations every minute. A curve appears here after the second count.
      </p>
    );
  const most = Math.max(1, ...samples.map(totalOf));
  const spanMs = Math.max(1, last.sampledAtMs - first.sampledAtMs);
  const points = samples.map((sample) => {
    const across = ((sample.sampledAtMs - first.sampledAtMs) / spanMs) * HEIGHT;
    return `${across.toFixed(2)} ${(HEIGHT - (sample.current / most) * HEIGHT).toFixed(1)}`;
  });
  return (
    <figure class="curve">
      <figcaption>
        <strong>Workstations that follow it</strong>
      </figcaption>
      <p class="edge muted">{numberText(most, language)}</p>
      <svg
        viewBox={`0 0 ${HEIGHT} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${last.current} of ${totalOf(last)} workstations at the last count. The table has the numbers.`}
      >
        <path class="half" d={`M${points.join("L")}`} />
      </svg>
      <p class="ends muted">
        <span>{exactTime(first.sampledAtMs, zone)}</span>
        <span>{exactTime(last.sampledAtMs, zone)}</span>
      </p>
      <details class="numbers">
        <summary>The numbers as a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what can be scrolled (WCAG 2.1.1) */}
        <section class="scroll" tabIndex={0} aria-label="Numbers">
          <table>
            <caption class="visually-hidden">Workstations at each count</caption>
            <TableHead labels={["Time", ...COUNTS]} />
            <tbody
              dangerouslySetInnerHTML={{
                __html: samples
                  .toReversed()
                  .map((sample) => countHtml(sample, { zone, language }))
                  .join(""),
              }}
            />
          </table>
        </section>
      </details>
    </figure>
  );
}

/** One row of the table. The renderer takes ten times as long for hundreds of rows. */
function countHtml(
  sample: Rollout["samples"][number],
  { zone, language }: Pick<Reader, "zone" | "language">,
): string {
  const numbers = KINDS.map((kind) => `<td class="number">${numberText(sample[kind], language)}</td>`);
  return `<tr><td>${exactTime(sample.sampledAtMs, zone)}</td>${numbers.join("")}</tr>`;
}

function Refusals({ rollout: { refusals, moreRefusals, isInForce, revision } }: { rollout: Rollout }) {
  const list = `${CONSOLE}/clients?health=attention&revision=r${revision.sequence}`;
  return (
    <section id="refusals" data-region aria-labelledby="refusals-title">
      <h2 id="refusals-title">Workstations that refused it</h2>
      {refusals.length === 0 ? (
        <p>None has reported a problem with it.</p>
      ) : (
        <table class="rows">
          <caption class="visually-hidden">Reasons, the most frequent first</caption>
          <TableHead labels={["Reason", { number: "Workstations" }, "For example"]} />
          <tbody>
            {refusals.map(({ reason, clients, example }) => (
              <tr key={reason}>
                <td data-label="Reason">
                  <Text value={reason} />
                </td>
                <td data-label="Workstations" class="number">
                  <Count value={clients} />
                </td>
                <td data-label="For example">
                  <a href={`${CONSOLE}/clients/${example.id}`}>
                    <Text value={exampleText(example)} />
                  </a>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {moreRefusals > 0 && <p>{moreRefusals} more reasons are rarer.</p>}
      {refusals.length > 0 && isInForce && (
        <p>
          <a href={list}>All workstations that need attention</a>
        </p>
      )}
    </section>
  );
}

function Groups({
  title,
  label,
  groups,
  hint,
}: {
  hint?: string;
  title: string;
  label: string;
  groups: ReadonlyMap<string, HealthCounts>;
}) {
  if (groups.size === 0) return null;
  const id = label.toLowerCase();
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {hint && <p class="hint">{hint}</p>}
      <table class="rows">
        <caption class="visually-hidden">{title}</caption>
        <TableHead labels={[label, ...COUNTS]} />
        <tbody>
          {[...groups].map(([name, counts]) => (
            <tr key={name}>
              <td data-label={label}>
                <Text value={name} />
              </td>
              {KINDS.map((kind) => (
                <td data-label={WORDS[kind]} class="number" key={kind}>
                  <Count value={counts[kind]} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
