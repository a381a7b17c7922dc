// The overview shows whether the installation is in order: problems first, then workstations by health, the newest revision and
// its rollout, and the newest changes.
/** @jsxImportSource preact */

import type { NamedEntry } from "../../../domain/audit/reading/entry-document.ts";
import { HEALTHS } from "../../../domain/clients/model.ts";
import type { FleetFigures, OverviewView } from "../../overview/overview.ts";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import { AsCommand } from "../parts/command.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { percentText } from "../parts/texts.ts";
import { Count, Facts, Revision, State, Text, Time } from "../parts/values.tsx";
import { Target } from "../system/audit-list.tsx";
import { HEALTH_WORDS } from "../workstations/words.ts";
import { FINDINGS_PAGE, KEY_STATE_WORDS, PROBLEM_PAGES, PROBLEM_WORDS, sourceWord } from "./words.ts";

interface OverviewProps {
  view: OverviewView;
  /** addresses of the navigation of this reader */
  pages: ReadonlySet<string>;
}

/** @returns the first page of administrators */
export function overviewPage({ view, pages }: OverviewProps): ConsolePage {
  return {
    title: "Overview",
    live: ["revision", "clients", "keys", "jobs", "problem"],
    content: (
      <>
        <Problems view={view} pages={pages} />
        <Fleet fleet={view.fleet} />
        <Rollout view={view} />
        <People view={view} pages={pages} />
        <Revisions view={view} pages={pages} />
        <Entries entries={view.entries} />
        <AsCommand command={["doctor"]} api={{ method: "GET", path: "/admin/overview" }} />
      </>
    ),
  };
}

function Problems({ view: { problems, checkedAtMs }, pages }: OverviewProps) {
  return (
    <section id="problems" data-region aria-labelledby="problems-title">
      <h2 id="problems-title">Problems</h2>
      {problems.length === 0 ? (
        <p>
          {checkedAtMs === undefined ? (
            <State tone="neutral">Not checked yet</State>
          ) : (
            <State tone="good">No problems</State>
          )}
        </p>
      ) : (
        <ul class="problems">
          {problems.map(({ source, result, detail, remedy }) => (
            <li key={source + detail} class="panel">
              <p>
                <State tone={PROBLEM_WORDS[result].tone}>{PROBLEM_WORDS[result].label}</State>
                <ProblemSource source={source} pages={pages} />: <Text value={asSentence(detail)} />
                {remedy !== null && (
                  <span class="hint remedy">
                    What to do: <Text value={asSentence(remedy)} />
                  </span>
                )}
              </p>
            </li>
          ))}
        </ul>
      )}
      <p class="muted">
        {checkedAtMs === undefined ? (
          <>
            The checks are still running. <a href={CONSOLE}>Look again</a>
          </>
        ) : (
          <>
            Checked <Time at={checkedAtMs} />
          </>
        )}
      </p>
    </section>
  );
}

function ProblemSource({ source, pages }: { source: string; pages: ReadonlySet<string> }) {
  const href = [PROBLEM_PAGES[source], FINDINGS_PAGE].find((page) => page !== undefined && pages.has(page));
  const word = sourceWord(source);
  return href !== undefined ? <a href={href}>{word}</a> : <strong>{word}</strong>;
}

function Fleet({ fleet }: { fleet: FleetFigures }) {
  const path = `${CONSOLE}/clients`;
  return (
    <section id="fleet" data-region aria-labelledby="fleet-title">
      <h2 id="fleet-title">Workstations</h2>
      {fleet.total === 0 ? (
        <p>
          No workstation has reported yet. <a href="/help/workstations">How to connect the first one</a>
        </p>
      ) : (
        <Facts
          facts={[
            ...HEALTHS.toReversed().map((health) => ({
              label: HEALTH_WORDS[health].label,
              value: (
                <a href={`${path}?health=${health}`}>
                  <Count value={fleet[health]} />
                </a>
              ),
            })),
            {
              label: "All",
              value: (
                <a href={path}>
                  <Count value={fleet.total} />
                </a>
              ),
            },
          ]}
        />
      )}
    </section>
  );
}

/** The bar is an SVG, because the policy of the page allows no inline style. */
function Rollout({ view: { fleet, revisions } }: { view: OverviewView }) {
  const [newest] = revisions;
  if (!newest || fleet.total === 0) return null;
  const { onNewest, total } = fleet;
  const percent = percentText(onNewest, total);
  return (
    <section id="rollout" data-region aria-labelledby="rollout-title">
      <h2 id="rollout-title">Rollout of r{newest.sequence}</h2>
      <p>
        <a href={`${CONSOLE}/clients?revision=r${newest.sequence}`}>{percent} of all workstations have it</a>:{" "}
        <Count value={onNewest} /> of <Count value={total} />, published <Time at={newest.createdAtMs} />
      </p>
      <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect class="whole" width="100" height="1" />
        <rect class="part" width={(100 * onNewest) / total} height="1" />
      </svg>
    </section>
  );
}

const USER_WORDS = { active: "Active", suspended: "Suspended", removed: "Removed" } as const;

function People({ view: { users, keys }, pages }: OverviewProps) {
  const [people, keyList] = [`${CONSOLE}/users`, `${CONSOLE}/gateway/keys`];
  const linked = (value: number, list: string, query: string) =>
    pages.has(list) ? (
      <a href={`${list}?${query}`}>
        <Count value={value} />
      </a>
    ) : (
      <Count value={value} />
    );
  return (
    <section id="people" data-region aria-labelledby="people-title">
      <h2 id="people-title">{keys ? "Users and keys" : "Users"}</h2>
      <Facts
        facts={(["active", "suspended", "removed"] as const).map((status) => ({
          label: USER_WORDS[status],
          value: linked(users[status], people, `status=${status}`),
        }))}
      />
      {keys && (
        <Facts
          facts={keys.map(({ state, total }) => ({
            label: KEY_STATE_WORDS[state],
            value: linked(total, keyList, `state=${state}`),
          }))}
        />
      )}
    </section>
  );
}

function Revisions({ view: { revisions }, pages }: OverviewProps) {
  const history = `${CONSOLE}/policy/history`;
  return (
    <section id="revisions" data-region data-rows aria-labelledby="revisions-title">
      <h2 id="revisions-title">Newest revisions of the policy</h2>
      {revisions.length === 0 ? (
        <p>No policy is published yet.</p>
      ) : (
        <table class="rows">
          <caption class="visually-hidden">Newest revisions of the policy</caption>
          <TableHead labels={["Revision", "Published", "Author", "Comment"]} />
          <tbody>
            {revisions.map(({ id, sequence, createdAtMs, authorLabel, comment }) => (
              <tr key={id} id={`revision-${id}`}>
                <td data-label="Revision">
                  <Revision sequence={sequence} href={pages.has(history) ? `${history}/${id}` : undefined} />
                </td>
                <td data-label="Published">
                  <Time at={createdAtMs} />
                </td>
                <td data-label="Author">
                  <Text value={authorLabel} />
                </td>
                <td data-label="Comment">
                  <Text value={comment} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const Entries = ({ entries }: { entries: readonly NamedEntry[] }) => (
  <section id="entries" data-region data-rows aria-labelledby="entries-title">
    <h2 id="entries-title">Newest changes</h2>
    {entries.length === 0 ? (
      <p>The audit log has no entries yet.</p>
    ) : (
      <table class="rows">
        <caption class="visually-hidden">Newest entries of the audit log</caption>
        <TableHead labels={["When", "Actor", "Action", "Target"]} />
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id} id={`entry-${entry.id}`}>
              <td data-label="When">
                <a href={`${CONSOLE}/audit/${entry.id}`}>
                  <Time at={entry.atMs} />
                </a>
              </td>
              <td data-label="Actor">
                <Text value={entry.actorLabel} />
              </td>
              <td data-label="Action">
                <code>{entry.action}</code>
              </td>
              <td data-label="Target">
                <Target entry={entry} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
    <p>
      <a href={`${CONSOLE}/audit`}>The whole audit log</a>
    </p>
  </section>
);
