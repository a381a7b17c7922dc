// One audit entry: actor, action, address, the changes member by member, and its place in the chain.
/** @jsxImportSource preact */
import type { AuditRow } from "../../../domain/audit/chain.ts";
import { digestText, type EntryInChain } from "../../../domain/audit/reading/entry-document.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { AsCommand } from "../parts/command.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { type Fact, Facts, Id, State, Text, Time } from "../parts/values.tsx";
import { type Change, changesOf, entriesAbout, isChanged } from "./audit-changes.ts";
import { AUDIT_PATH, Target } from "./audit-list.tsx";

export function auditEntryPage(found: EntryInChain): ConsolePage {
  const { entry } = found;
  const changes = changesOf(entry);
  return {
    title: `Entry ${entry.id}`,
    breadcrumbs: [{ href: AUDIT_PATH, label: "Audit log" }],
    content: (
      <>
        <Facts facts={factsOf(found)} />
        <section>
          <h2>Change</h2>
          {changes.length === 0 ? (
            <p class="muted">The entry has no summary of its target.</p>
          ) : (
            <Changes changes={changes} />
          )}
        </section>
        <section>
          <h2>Place in the chain</h2>
          <Chain found={found} />
        </section>
        <AsCommand
          command={["audit", "show", String(entry.id)]}
          api={{ method: "GET", path: `/admin/audit/${entry.id}` }}
        />
      </>
    ),
  };
}

function factsOf({ entry }: EntryInChain): Fact[] {
  const { target, targetName, credential, requestId, redactedBy } = entry;
  return [
    { label: "When", value: <Time at={entry.atMs} /> },
    {
      label: "Actor",
      value: (
        <>
          <Text value={entry.actorLabel} /> <span class="muted">({entry.actorKind})</span>
        </>
      ),
    },
    { label: "Action", value: <code>{entry.action}</code> },
    {
      label: "Target",
      value: (
        <>
          <Target entry={entry} /> {targetName !== null && <Id value={target} />}
          {" · "}
          <a href={entriesAbout(target)}>All entries about it</a>
        </>
      ),
    },
    { label: "Outcome", value: "Done: an entry is written together with its change" },
    { label: "Address", value: <Text value={entry.address} /> },
    { label: "Credential", value: credential === null ? <Text value={null} /> : <Id value={credential} /> },
    { label: "Request", value: requestId === null ? <Text value={null} /> : <Id value={requestId} /> },
    ...(redactedBy === null
      ? []
      : [
          {
            label: "Redacted",
            value: <a href={`${AUDIT_PATH}/${redactedBy}`}>By the erasure in entry {redactedBy}</a>,
          },
        ]),
  ];
}

const Changes = ({ changes }: { changes: readonly Change[] }) => (
  <table class="rows changes">
    <caption class="visually-hidden">Values before and after the change</caption>
    <TableHead labels={["Value", "Before", "After"]} />
    <tbody>
      {changes.map((change) => (
        <tr key={change.name} class={isChanged(change) ? "changed" : undefined}>
          <td data-label="Value">
            <Text value={change.name} />
          </td>
          <td data-label="Before">
            {isChanged(change) && change.before !== undefined ? (
              <del>
                <Text value={change.before} />
              </del>
            ) : (
              <Text value={change.before} />
            )}
          </td>
          <td data-label="After">
            {isChanged(change) && change.after !== undefined ? (
              <ins>
                <Text value={change.after} />
              </ins>
            ) : (
              <Text value={change.after} />
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

function Chain({ found: { entry, previous, next } }: { found: EntryInChain }) {
  const isLinked = previous !== null && previous.digest === entry.previousDigest;
  return (
    <>
      <Facts
        facts={[
          {
            label: "Before it",
            value: <Neighbor entry={previous} none="No earlier entry is kept" />,
          },
          { label: "After it", value: <Neighbor entry={next} none="This is the newest entry" /> },
          { label: "Digest", value: <Id value={digestText(entry.digest) ?? ""} /> },
        ]}
      />
      {previous !== null && (
        <p>
          {isLinked ? (
            <State tone="good">Follows the entry before it</State>
          ) : (
            <State tone="bad">Does not follow the entry before it: one was removed, inserted or moved</State>
          )}
        </p>
      )}
    </>
  );
}

function Neighbor({ entry, none }: { entry: AuditRow | null; none: string }) {
  if (entry === null) return <span class="muted">{none}</span>;
  return (
    <>
      <a href={`${AUDIT_PATH}/${entry.id}`}>Entry {entry.id}</a>, <code>{entry.action}</code> by{" "}
      <Text value={entry.actorLabel} />, <Time at={entry.atMs} />
    </>
  );
}
