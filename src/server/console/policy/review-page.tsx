// The review of a draft: what changes, whom it reaches, what prevents the publication, the comment, and the publication itself.
/** @jsxImportSource preact */
import type { PolicyImpact } from "../../../domain/clients/service.ts";
import { COMMENT_LENGTH_MAX } from "../../../domain/governance/model.ts";
import type { Draft, Review } from "../../../domain/governance/service.ts";
import { ErrorSummary, Hidden } from "../../pages/forms.tsx";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { harnessText } from "../own/words.ts";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { Count, Facts, Text, Time, useReader } from "../parts/values.tsx";
import { Changes } from "./changes.tsx";
import { DISCARD_PATH, EDIT_PATH, isStamp, MERGE_PATH, REVIEW_PATH, revisionText, TRAIL } from "./words.ts";

/** Updates of the catalog that one page names. */
export const UPDATES_SHOWN_MAX = 50;

interface ReviewProps {
  draft: Draft;
  review: Review;
  /** address of its author */
  owner: string;
  isOwn: boolean;
  impact: PolicyImpact;
  comment?: string;
  error?: string | undefined;
}

/** @returns the page of the review */
export function reviewPage(props: ReviewProps): ConsolePage {
  const { draft, review, owner, isOwn, impact, error } = props;
  const changes = review.changes.filter((change) => !isStamp(change));
  return {
    title: isOwn ? "Review your draft" : `Review the draft of ${owner}`,
    trail: TRAIL,
    isError: error !== undefined,
    ...(error !== undefined && { status: 400 }),
    content: (
      <>
        <ErrorSummary error={error} />
        <p>
          Begun on {revisionText(review.base)}, saved <Time at={draft.savedAtMs} />.{" "}
          {isOwn && (
            <>
              <a href={EDIT_PATH}>Edit</a> · <a href={DISCARD_PATH}>Discard</a>
            </>
          )}
        </p>
        <section aria-labelledby="changes">
          <h2 id="changes">What changes</h2>
          {changes.length === 0 ? (
            <p>Nothing. The draft says what the policy says.</p>
          ) : (
            <Changes changes={review.changes} caption="Changes of the draft" />
          )}
        </section>
        {changes.length > 0 && <Impact impact={impact} />}
        <CatalogUpdates review={review} />
        <Problems review={review} />
        {review.isStale ? <Stale review={review} isOwn={isOwn} /> : <Publish {...props} />}
        {isOwn && <Share draft={draft} />}
        <AsCommand
          command={["policy", "draft", "publish", owner]}
          api={{ method: "POST", path: "/admin/policy-draft/publish", body: { version: draft.version } }}
        />
      </>
    ),
  };
}

function Impact({ impact: { workstations, harnesses, packages } }: { impact: PolicyImpact }) {
  const refusing = harnesses.filter(({ refused }) => refused > 0);
  return (
    <section aria-labelledby="reach">
      <h2 id="reach">Whom it reaches</h2>
      <Facts
        facts={[
          { label: "Become outdated until their next fetch", value: <Count value={workstations.outdated} /> },
          { label: "Would be refused", value: <Count value={workstations.refused} /> },
          { label: "Have a client that is too old", value: <Count value={workstations.clientTooOld} /> },
          { label: "All workstations", value: <Count value={workstations.total} /> },
        ]}
      />
      {refusing.length > 0 && (
        <table class="rows">
          <caption class="visually-hidden">Versions that would be refused</caption>
          <thead>
            <tr>
              <th scope="col">Harness</th>
              <th scope="col">Version</th>
              <th scope="col" class="number">
                Workstations
              </th>
              <th scope="col">Reason</th>
            </tr>
          </thead>
          <tbody>
            {refusing.flatMap(({ harness, versions }) =>
              versions.map(({ version, clients, reason }) => (
                <tr key={harness + version}>
                  <td data-label="Harness">{harnessText(harness)}</td>
                  <td data-label="Version">
                    <Text value={version} none="unreadable" />
                  </td>
                  <td data-label="Workstations" class="number">
                    <Count value={clients} />
                  </td>
                  <td data-label="Reason">
                    <Text value={reason} />
                  </td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      )}
      {packages.length > 0 && (
        <ul>
          {packages.map(({ id, gaining, losing }) => (
            <li key={id}>
              <Text value={id} />: <PeopleText verb="get it" people={gaining} />,{" "}
              <PeopleText verb="lose it" people={losing} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const PeopleText = ({
  verb,
  people,
}: {
  verb: string;
  people: PolicyImpact["packages"][number]["gaining"];
}) => (
  <>
    <Count value={people.count} /> {people.count === 1 ? "person" : "people"} {verb}
    {people.named.length > 0 && (
      <>
        {" "}
        (<Text value={people.named.join(", ")} />
        {people.count > people.named.length && " and others"})
      </>
    )}
  </>
);

function CatalogUpdates({ review: { catalogUpdates } }: { review: Review }) {
  if (catalogUpdates.length === 0) return null;
  return (
    <section aria-labelledby="updates">
      <h2 id="updates">Updates that are not taken</h2>
      <p>The catalog offers other versions of these packages. Publishing leaves them as they are.</p>
      <ul>
        {catalogUpdates.slice(0, UPDATES_SHOWN_MAX).map(({ id, from, to }) => (
          <li key={id}>
            <Text value={id} /> stays at <Text value={from} />; the catalog has{" "}
            <Text value={from === to ? "other bytes of that version" : to} />
          </li>
        ))}
      </ul>
      {catalogUpdates.length > UPDATES_SHOWN_MAX && (
        <p>And {catalogUpdates.length - UPDATES_SHOWN_MAX} more.</p>
      )}
    </section>
  );
}

function Problems({ review: { problems, warnings } }: { review: Review }) {
  if (problems.length === 0 && warnings.length === 0) return null;
  return (
    <section aria-labelledby="problems">
      <h2 id="problems">{problems.length > 0 ? "Problems to solve first" : "Warnings"}</h2>
      <ul>
        {[...problems, ...warnings].map(({ pointer, detail, line }) => (
          <li key={pointer + detail}>
            {line !== undefined && <>Line {line}: </>}
            <Text value={`${pointer} ${detail}`.trim()} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Stale({ review, isOwn }: { review: Review; isOwn: boolean }) {
  return (
    <section aria-labelledby="stale">
      <h2 id="stale">Somebody published meanwhile</h2>
      <p>
        {revisionText(review.current)} by <Text value={review.current.authorLabel} /> is current now. Merge it
        with the draft: the changes of both stay, and you choose where both changed the same place.
      </p>
      {isOwn ? (
        <ConsoleForm action={MERGE_PATH}>
          <button class="button primary" type="submit">
            Merge {revisionText(review.current)}
          </button>
        </ConsoleForm>
      ) : (
        <p>Its author must merge it before it can be published.</p>
      )}
    </section>
  );
}

function Publish({ draft, review, comment = "", error }: ReviewProps) {
  const { mayAdminister } = useReader();
  if (!mayAdminister) return null;
  const closed =
    review.changes.length === 0
      ? "There is nothing to publish."
      : review.problems.length > 0
        ? "The problems above must be solved first."
        : review.needsOther
          ? "Another administrator must publish it. Share the draft and send its address."
          : undefined;
  const reasons = review.commentReasons;
  return (
    <section aria-labelledby="publish">
      <h2 id="publish">Publish</h2>
      {closed !== undefined ? (
        <p>{closed}</p>
      ) : (
        <ConsoleForm action={REVIEW_PATH} edits={error === undefined ? "saved" : "refused"}>
          <Hidden name="draft" value={draft.id} />
          <Hidden name="version" value={String(draft.version)} />
          <div class="field narrow">
            <label for="comment">Comment{reasons.length === 0 && " (optional)"}</label>
            <input
              id="comment"
              name="comment"
              value={comment}
              maxLength={COMMENT_LENGTH_MAX}
              required={reasons.length > 0}
              autocomplete="off"
            />
            {reasons.length > 0 && <p class="hint">Required: {asSentence(reasons.join(", "))}</p>}
          </div>
          <button class="button primary" type="submit">
            Publish
          </button>
        </ConsoleForm>
      )}
    </section>
  );
}

const Share = ({ draft }: { draft: Draft }) => (
  <section aria-labelledby="share">
    <h2 id="share">Show it to another administrator</h2>
    {draft.isShared ? (
      <p>
        Other administrators may read and publish it at <code>{`${REVIEW_PATH}?draft=${draft.id}`}</code>.
        Only you can change it.
      </p>
    ) : (
      <p>Only you see this draft. When it is shared, other administrators may read and publish it.</p>
    )}
    <ConsoleForm action={`${REVIEW_PATH}/share`}>
      <Hidden name="version" value={String(draft.version)} />
      <Hidden name="shared" value={draft.isShared ? "no" : "yes"} />
      <button class="button" type="submit">
        {draft.isShared ? "Stop sharing" : "Share"}
      </button>
    </ConsoleForm>
  </section>
);
