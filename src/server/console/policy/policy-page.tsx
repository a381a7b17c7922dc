// The pages of the current policy and of a former revision: facts, text, changes, and actions.
/** @jsxImportSource preact */

import type { VNode } from "preact";
import {
  type ChangeList,
  type Draft,
  isWithoutChanges,
  type Revision,
  type ShownConflicts,
} from "../../../domain/governance/service.ts";
import type { ShownText } from "../../../domain/governance/shown/shown-text.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { Empty } from "../list/first-step.tsx";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { Facts, Id, Text, Time, useReader } from "../parts/values.tsx";
import { Changes } from "./changes.tsx";
import { Conflicts } from "./conflicts-part.tsx";
import { HiddenValues } from "./hidden-values.tsx";
import { PolicyText } from "./policy-text.tsx";
import {
  BREADCRUMBS,
  DIFF_PATH,
  EDIT_PATH,
  EXPLAIN_PATH,
  HISTORY_PATH,
  ORIGIN_WORDS,
  ROLLOUT_PATH,
  revisionText,
} from "./words.ts";

interface PolicyProps {
  revision: Revision | undefined;
  text: ShownText | undefined;
  /** places where the configuration file has a different value */
  conflicts: ShownConflicts;
  /** of the reader, saved or not */
  draft: Draft;
}

export function policyPage({ revision, text, conflicts, draft }: PolicyProps): ConsolePage {
  return {
    title: "Policy",
    content: revision ? (
      <>
        <RevisionFacts revision={revision} />
        <Links revision={revision} />
        <HiddenValues isNeeded={text?.hasSecrets || conflicts.hasSecrets} />
        <Conflicts {...conflicts} draft={draft} />
        <section aria-labelledby="text">
          <h2 id="text">Text</h2>
          {text && <PolicyText text={text} />}
        </section>
        <AsCommand command={["policy", "show"]} api={{ method: "GET", path: "/admin/governance-config" }} />
      </>
    ) : (
      <Empty
        text="No policy is published yet. The service publishes the first one when it starts."
        purpose="To publish one from a file, run on the server"
        command={["policy", "apply", "policy.yaml"]}
      />
    ),
  };
}

function Links({ revision }: { revision: Revision }) {
  const { mayAdminister } = useReader();
  return (
    <p class="choices">
      {mayAdminister && (
        <a class="button primary" href={EDIT_PATH} data-edit>
          Edit
        </a>
      )}
      <a class="button" href={`${ROLLOUT_PATH}/${revision.id}`}>
        Rollout
      </a>
      <a class="button" href={EXPLAIN_PATH}>
        Explain to a person
      </a>
      <a class="button" href={HISTORY_PATH}>
        History
      </a>
    </p>
  );
}

function RevisionFacts({ revision }: { revision: Revision }) {
  const { id, createdAtMs, authorLabel, origin, comment } = revision;
  return (
    <Facts
      facts={[
        {
          label: "Revision",
          value: (
            <>
              {revisionText(revision)} <Id value={id} />
            </>
          ),
        },
        { label: "Published", value: <Time at={createdAtMs} /> },
        { label: "By", value: <Text value={authorLabel} /> },
        { label: "Origin", value: ORIGIN_WORDS[origin] },
        { label: "Comment", value: <Text value={comment} none="none" /> },
      ]}
    />
  );
}

interface RevisionProps {
  revision: Revision;
  text: ShownText;
  current: Revision;
  /** since the former one */
  difference: Difference | undefined;
  /** of the reader's draft; 0 for none */
  draftVersion: number;
}

interface Difference {
  from: Revision;
  changes: ChangeList;
  /** as `drawTextDifference` draws it */
  text: VNode | null;
}

export function revisionPage({
  revision,
  current,
  difference,
  text,
  draftVersion,
}: RevisionProps): ConsolePage {
  const isCurrent = revision.id === current.id;
  const name = revisionText(revision);
  return {
    title: isCurrent ? `Revision ${name}, the current one` : `Revision ${name}`,
    breadcrumbs: [...BREADCRUMBS, { href: HISTORY_PATH, label: "History" }],
    content: (
      <>
        <RevisionFacts revision={revision} />
        <p class="choices">
          <a class="button" href={`${ROLLOUT_PATH}/${revision.id}`}>
            Rollout
          </a>
          {!isCurrent && (
            <a class="button" href={`${DIFF_PATH}?from=${revision.sequence}&to=${current.sequence}`}>
              Compare with the current one
            </a>
          )}
        </p>
        {!isCurrent && <DraftFromRevision revision={revision} draftVersion={draftVersion} />}
        {difference && (
          <section aria-labelledby="changes">
            <h2 id="changes">What it changed</h2>
            <HiddenValues isNeeded={difference.changes.hasSecrets} />
            {isWithoutChanges(difference.changes) ? <p>Nothing but requirements.</p> : null}
            <Changes
              changes={difference.changes}
              caption={`Changes from ${revisionText(difference.from)} to ${name}`}
            />
            {difference.text}
          </section>
        )}
        <section aria-labelledby="text">
          <h2 id="text">Text</h2>
          <HiddenValues isNeeded={text.hasSecrets} />
          <PolicyText text={text} />
        </section>
        <AsCommand
          command={["policy", "show", String(revision.sequence)]}
          api={{ method: "GET", path: `/admin/governance-config/revisions/${revision.id}` }}
        />
      </>
    ),
  };
}

/** A rollback goes through the review like every change; `policy rollback` on the server publishes immediately. */
function DraftFromRevision({ revision, draftVersion }: Pick<RevisionProps, "revision" | "draftVersion">) {
  if (!useReader().mayAdminister) return null;
  return (
    <section aria-labelledby="again">
      <h2 id="again">Go back to it</h2>
      <p>
        Creates a draft with the content of {revisionText(revision)}, including its audiences, and opens the
        review. Nothing is published yet.
      </p>
      <ConsoleForm action={`${HISTORY_PATH}/${revision.id}/draft`}>
        <button class="button" type="submit">
          Draft {revisionText(revision)} again
        </button>
      </ConsoleForm>
      <AsCommand
        api={{
          method: "PUT",
          path: "/admin/policy-draft",
          body: { version: draftVersion, revision: revision.id },
        }}
      />
    </section>
  );
}

export const diffPage = ({ from, to, changes, text }: Difference & { to: Revision }): ConsolePage => ({
  title: `From ${revisionText(from)} to ${revisionText(to)}`,
  breadcrumbs: [...BREADCRUMBS, { href: HISTORY_PATH, label: "History" }],
  content: (
    <>
      <search aria-label="Revisions">
        <form class="filters" action={DIFF_PATH}>
          {(
            [
              ["from", "From", from],
              ["to", "To", to],
            ] as const
          ).map(([name, label, revision]) => (
            <div class="filter" key={name}>
              <label for={`filter-${name}`}>{label}</label>
              <input
                id={`filter-${name}`}
                name={name}
                value={revision.sequence}
                inputmode="numeric"
                maxLength={64}
              />
            </div>
          ))}
          <button class="button" type="submit">
            Compare
          </button>
        </form>
      </search>
      {isWithoutChanges(changes) ? (
        <div class="empty">
          <p>They are identical.</p>
        </div>
      ) : (
        <>
          <HiddenValues isNeeded={changes.hasSecrets} />
          <Changes changes={changes} caption="Differences" />
          {text}
        </>
      )}
      <AsCommand
        command={["policy", "diff", String(from.sequence), String(to.sequence)]}
        api={{ method: "GET", path: `/admin/governance-config/diff?from=${from.sequence}&to=${to.sequence}` }}
      />
    </>
  ),
});
