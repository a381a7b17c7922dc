// The review of a draft: changes, impact, problems that prevent publication, the comment, and the publication itself.
/** @jsxImportSource preact */
import type { VNode } from "preact";
import type { PolicyImpact } from "../../../domain/clients/service.ts";
import { COMMENT_LENGTH_MAX } from "../../../domain/governance/model.ts";
import {
  brokenTexts,
  type Draft,
  isWithoutChanges,
  type Review,
} from "../../../domain/governance/service.ts";
import { ErrorSummary, Hidden } from "../../pages/forms.tsx";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { BrokenTexts } from "../parts/broken-texts.tsx";
import { AsCommand, options } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { LostComments } from "../parts/lost-comments.tsx";
import { CopyableValue, Count, Text, Time, useReader } from "../parts/values.tsx";
import { Changes } from "./changes.tsx";
import { HiddenValues } from "./hidden-values.tsx";
import { Impact } from "./impact-part.tsx";
import { CatalogUpdates, NewSecrets, Problems } from "./review/remarks.tsx";
import {
  BREADCRUMBS,
  DISCARD_PATH,
  DRAFT_FILE_PATH,
  EDIT_PATH,
  MERGE_PATH,
  REVIEW_PATH,
  reviewPath,
  revisionText,
} from "./words.ts";

interface ReviewProps {
  draft: Draft;
  review: Review;
  /** address of its author */
  owner: string;
  isOwn: boolean;
  /** for other administrators, once it is shared */
  address: string;
  impact: PolicyImpact;
  /** lines in which the draft differs from the revision that it began from, as `drawTextDifference` draws it */
  text: VNode | null;
  comment?: string;
  /** why the draft was not published */
  refused?: { message: string; status: number } | undefined;
}

export function reviewPage(props: ReviewProps): ConsolePage {
  const { draft, review, owner, isOwn, impact, text, refused, address } = props;
  const { count } = review.changes;
  return {
    title: isOwn ? "Review your draft" : `Review the draft of ${owner}`,
    breadcrumbs: BREADCRUMBS,
    isError: refused !== undefined,
    status: refused?.status,
    content: (
      <>
        <ErrorSummary error={refused?.message} />
        <p>
          {isBaseGone(props) ? (
            "The base revision of the draft is gone"
          ) : (
            <>Begun on {revisionText(review.base)}</>
          )}
          , saved <Time at={draft.savedAtMs} />. <DraftLinks {...props} />
        </p>
        <section aria-labelledby="changes">
          <h2 id="changes">What changes</h2>
          {count === 0 ? (
            <p>
              {review.problems.length > 0
                ? "The changes are shown when the problems are solved."
                : "Nothing. The draft equals the policy."}
            </p>
          ) : (
            <>
              <HiddenValues isNeeded={review.changes.hasSecrets} path={pathOf(props)} />
              <Changes changes={review.changes} caption="Changes of the draft" />
              {text}
            </>
          )}
        </section>
        {count > 0 && <Impact impact={impact} draft={draft.id} />}
        <CatalogUpdates review={review} />
        <Problems review={review} isOwn={isOwn} />
        <NewSecrets {...review.newSecrets} />
        {review.isStale ? <Stale {...props} /> : <Publish {...props} />}
        {isOwn && <Share draft={draft} address={address} />}
        {!review.isStale && <PublishCommand {...props} />}
      </>
    ),
  };
}

function DraftLinks({ draft, isOwn }: Pick<ReviewProps, "draft" | "isOwn">) {
  const { mayAdminister } = useReader();
  if (!isOwn) return mayAdminister ? <a href={`${DRAFT_FILE_PATH}?draft=${draft.id}`}>Download</a> : null;
  return (
    <>
      <a href={EDIT_PATH} data-edit>
        Edit
      </a>{" "}
      · <a href={DRAFT_FILE_PATH}>Download</a> · <a href={DISCARD_PATH}>Discard</a>
    </>
  );
}

/** The request contains the id of the draft: without it, a program publishes the draft of its own account. */
const PublishCommand = ({ draft: { id, version }, owner, comment }: ReviewProps) => (
  <AsCommand
    command={["policy", "draft", "publish", owner, ...options({ comment })]}
    api={{
      method: "POST",
      path: "/admin/policy-draft/publish",
      body: { version, draft: id, ...(comment && { comment }) },
    }}
  />
);

/** A refused publication is answered at an address without the draft. */
const pathOf = ({ draft, isOwn }: ReviewProps): string => reviewPath(isOwn ? undefined : draft.id);

/** After a restore of an older backup, for example. */
const isBaseGone = ({ draft, review }: ReviewProps): boolean => draft.baseRevision !== review.base.id;

function Stale(props: ReviewProps) {
  const { draft, review, isOwn, refused, comment } = props;
  const { current } = review;
  const broken = brokenTexts(draft.typed);
  return (
    <section aria-labelledby="stale">
      <h2 id="stale">{isBaseGone(props) ? "Its revision is gone" : "Somebody else has published"}</h2>
      <p>
        {revisionText(current)} by <Text value={current.authorLabel} /> is current now.{" "}
        {broken.length > 0
          ? "A draft with a text that has problems cannot be merged."
          : isBaseGone(props)
            ? "The service cannot determine your changes, so you choose wherever the draft and the current policy differ."
            : "Merge it with the draft: the changes of both stay, and you choose where both changed the same place."}
      </p>
      {refused && comment && (
        <p>
          Copy your comment, which is not stored: <CopyableValue value={comment} what="comment" />
        </p>
      )}
      {broken.length === 0 && <LostComments typed={draft.typed} act="merge" />}
      {broken.length > 0 ? (
        isOwn ? (
          <BrokenTexts names={broken} effect="the draft is merged" />
        ) : (
          <p>Its author must solve its problems and merge it before it can be published.</p>
        )
      ) : isOwn ? (
        <>
          <ConsoleForm action={MERGE_PATH}>
            <button class="button primary" type="submit">
              Merge {revisionText(review.current)}
            </button>
          </ConsoleForm>
          <AsCommand
            api={{ method: "POST", path: "/admin/policy-draft/merge", body: { version: draft.version } }}
          />
        </>
      ) : (
        <p>Its author must merge it before it can be published.</p>
      )}
    </section>
  );
}

function Publish({ draft, review, comment = "", refused, impact }: ReviewProps) {
  const { mayAdminister } = useReader();
  if (!mayAdminister) return null;
  const closed =
    review.problems.length > 0
      ? "The problems above must be solved first."
      : isWithoutChanges(review.changes)
        ? "There is nothing to publish."
        : review.needsOther
          ? "Another administrator must publish it. Share the draft and send its address."
          : undefined;
  const reasons = review.commentReasons;
  const next = revisionText({ sequence: review.current.sequence + 1 });
  return (
    <section aria-labelledby="publish">
      <h2 id="publish">Publish</h2>
      {closed !== undefined ? (
        <p>{closed}</p>
      ) : (
        <ConsoleForm action={REVIEW_PATH} edits={refused === undefined ? "saved" : "refused"}>
          <p>
            Publish {next}? <Effect review={review} impact={impact} />
          </p>
          <LostComments typed={draft.typed} act="publish" />
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
          <button
            class="button primary"
            type="submit"
            data-accept
            aria-keyshortcuts="Control+Enter Meta+Enter"
          >
            Publish {next}
          </button>
        </ConsoleForm>
      )}
    </section>
  );
}

function Effect({ review, impact: { workstations } }: Pick<ReviewProps, "review" | "impact">) {
  const { count } = review.changes;
  return (
    <>
      {count} {count === 1 ? "change" : "changes"}; <Count value={workstations.outdated} />{" "}
      {workstations.outdated === 1 ? "workstation becomes" : "workstations become"} outdated until their next
      fetch; <Count value={workstations.refused} /> would be refused.
    </>
  );
}

const Share = ({ draft, address }: Pick<ReviewProps, "draft" | "address">) => (
  <section aria-labelledby="share">
    <h2 id="share">Show it to another administrator</h2>
    {draft.isShared ? (
      <p>
        Other administrators may read and publish it at <CopyableValue value={address} what="address" />. Only
        you can change it.
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
    <AsCommand
      api={{
        method: "PUT",
        path: "/admin/policy-draft",
        body: { version: draft.version, shared: !draft.isShared },
      }}
    />
  </section>
);
