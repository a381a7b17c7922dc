// The draft of the reader in the console: review, share, merge, publish and discard it. edit-pages.ts has the editor of its text.

import type { Static } from "@sinclair/typebox";
import { IMPACT_TURN_MS } from "../../../../domain/clients/service.ts";
import type { Decision, DraftSummary, Revision } from "../../../../domain/governance/service.ts";
import { DomainError } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import type { Console, Done } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import type { Fields } from "../../../console/frame/kept-fields.tsx";
import { listValues } from "../../../console/list/list.ts";
import { confirmationPage } from "../../../console/parts/form.tsx";
import { statedIn } from "../../../console/parts/stated-version.ts";
import { isHiddenFrom } from "../../../console/policy/hidden-values.tsx";
import { mergePage, REMEMBERED } from "../../../console/policy/merge-page.tsx";
import { reviewPage } from "../../../console/policy/review-page.tsx";
import { drawTextDifference } from "../../../console/policy/text-difference.tsx";
import {
  BREADCRUMBS,
  HISTORY_PATH,
  MERGE_PATH,
  REVIEW_PATH,
  ROLLOUT_PATH,
  revisionText,
} from "../../../console/policy/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { failureOf } from "../../../http/problems/problem.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute, uploadRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { withNames, withPlaceNames } from "./audience-names.ts";
import { draftDiscardPages, isDraftChanged, unlessEnded, unpublishedText } from "./draft-discard-pages.ts";

const both = { csrf: FormField, by: FormField, version: FormField };
const PUBLISHED = formOf({ ...both, draft: FormField, comment: FormField });
const SHARED = formOf({ ...both, shared: FormField });
const STATED = formOf(both);
const ACTION = { needs: "administrator" } as const;

export function draftPages({ router, domain, baseUrl }: RouteContext, console: Console) {
  const review = reviewerOf(domain, baseUrl);
  const publish = publisherOf(domain, review);

  return router
    .get(
      REVIEW_PATH,
      ({ request }) =>
        console.show(request, "administrator", (reader) =>
          unlessEnded(() => review(reader, listValues(reader).draft)),
        ),
      pageRoute("showPolicyReview", "Review of a draft"),
    )
    .post(
      REVIEW_PATH,
      ({ request, body }) =>
        console.act(request, body, { ...ACTION, back: REVIEW_PATH }, (reader) =>
          unlessEnded(() => publish(reader, body)),
        ),
      formRoute(PUBLISHED, formOperation("sendPolicyPublication", "Publishes a draft")),
    );
}

/** @returns a function that publishes a draft and opens its rollout, or shows the obstacle in the review */
const publisherOf =
  ({ governance: { draftPublishing } }: RouteContext["domain"], review: ReturnType<typeof reviewerOf>) =>
  async (reader: Reader, body: Static<typeof PUBLISHED>): Promise<ConsolePage | Done> => {
    const { draft = "", comment } = body;
    const publication = { draft, version: statedIn(body.version).version, comment };
    try {
      const { revision, isPublished } = await draftPublishing.publish(reader.actor, publication);
      if (!isPublished) return { to: REVIEW_PATH, notice: "Nothing changes, so nothing was published." };
      return { to: `${ROLLOUT_PATH}/${revision.id}`, notice: `${revisionText(revision)} is published.` };
    } catch (error) {
      const failure = failureOf(error);
      if (!failure || !SHOWN_THERE.includes(failure.reason)) throw error;
      const { reason, status, message } = failure;
      const refused = { status, message: reason === "governance.stale_revision" ? STALE : message };
      return await review(reader, draft, { refused, comment });
    }
  };

export function draftActionPages(context: RouteContext, console: Console) {
  draftDiscardPages(context, console);
  const { router, domain } = context;
  const { drafts, revisions } = domain.governance;
  const merge = mergerOf(domain);
  return router
    .post(
      `${REVIEW_PATH}/share`,
      ({ request, body }) =>
        console.act(request, body, { ...ACTION, back: REVIEW_PATH }, ({ actor }) =>
          unlessEnded(async () => {
            const isShared = body.shared === "yes";
            await drafts.share(actor, statedIn(body.version), isShared);
            return { to: REVIEW_PATH, notice: isShared ? SHARED_NOTICE : "Only you see the draft." };
          }),
        ),
      formRoute(
        SHARED,
        formOperation("sendPolicySharing", "Shares the draft with other administrators, or stops sharing it"),
      ),
    )
    .post(
      MERGE_PATH,
      ({ request }) =>
        console.actLong(request, { ...ACTION, back: REVIEW_PATH }, (reader, fields) =>
          unlessBroken(() => merge(reader, fields)),
        ),
      uploadRoute(formOperation("sendPolicyMerge", "Merges later publications into the draft")),
    )
    .post(
      `${HISTORY_PATH}/:revision/draft`,
      ({ request, params, body }) =>
        console.act(
          request,
          body,
          { ...ACTION, back: `${HISTORY_PATH}/${params.revision}` },
          async (reader) => {
            const { actor, organizationId } = reader;
            const revision = revisions.named(organizationId, params.revision);
            const { version } = statedIn(body.version);
            const replaced = drafts.summaryOf(actor);
            if (replaced && replaced.version !== version) return replacementPage(replaced, revision);
            await drafts.saveFormer(actor, { version }, revision.id);
            return { to: REVIEW_PATH, notice: `The draft has the content of ${revisionText(revision)}.` };
          },
        ),
      formRoute(
        STATED,
        formOperation("sendPolicyRollback", "Creates a draft with the content of a revision"),
      ),
    );
}

const SHARED_NOTICE = "Other administrators may read and publish the draft.";

/** @returns a function that merges the draft, and asks about conflicting places */
const mergerOf =
  (domain: RouteContext["domain"]) =>
  async (reader: Reader, fields: Fields): Promise<ConsolePage | Done> => {
    const { drafts, draftPublishing } = domain.governance;
    const { actor } = reader;
    const version = statedIn(fields.version ?? String(drafts.versionOf(actor))).version;
    const decided = decisionsIn(fields);
    const remembered = decisionsIn(fields, REMEMBERED);
    try {
      const stated = { version, isHidden: true, decidedOn: fields.current };
      const merge = await draftPublishing.merge(actor, stated, decided);
      if (merge.undecided.count > 0) {
        const isIncomplete = areSomeUndecided(fields);
        return namedMergePage(domain, reader, {
          merge,
          decided: Object.keys(decided).length,
          remembered,
          isIncomplete,
        });
      }
    } catch (error) {
      if (!isDraftChanged(error)) throw error;
      const now = { version: drafts.versionOf(actor), isHidden: true };
      const merge = await draftPublishing.merge(actor, now, {});
      if (merge.undecided.count > 0)
        return namedMergePage(domain, reader, {
          merge,
          decided: 0,
          remembered: { ...remembered, ...decided },
          isStale: true,
        });
    }
    return { to: REVIEW_PATH, notice: "The draft is merged. Check it again before you publish." };
  };

function namedMergePage(
  domain: RouteContext["domain"],
  reader: Reader,
  { merge, ...page }: Parameters<typeof mergePage>[0],
): ConsolePage {
  const undecided = withPlaceNames(domain, reader, merge.undecided);
  return mergePage({ ...page, merge: { ...merge, undecided } });
}

/** @returns the confirmation of replacing a draft with the content of a revision */
const replacementPage = (replaced: DraftSummary, revision: Revision): ConsolePage =>
  confirmationPage({
    title: "Replace your draft",
    consequences: [
      `Replace ${unpublishedText(replaced)} with the content of ${revisionText(revision)}? They cannot be restored.`,
      "Cancel leads to your draft, which you can publish or download first.",
    ],
    action: `${HISTORY_PATH}/${revision.id}/draft`,
    fields: { version: String(replaced.version) },
    verb: "Replace",
    back: REVIEW_PATH,
    breadcrumbs: BREADCRUMBS,
    api: {
      method: "PUT",
      path: "/admin/policy-draft",
      body: { version: replaced.version, revision: revision.id },
    },
  });

/** @returns the result of the work; the review if a text of the draft has problems */
async function unlessBroken<Answer>(work: () => Promise<Answer>): Promise<Answer | Done> {
  try {
    return await unlessEnded(work);
  } catch (error) {
    if (error instanceof DomainError && error.reason === "policy_draft.broken_text") return BROKEN;
    throw error;
  }
}

const BROKEN: Done = {
  to: REVIEW_PATH,
  notice: { kind: "attention", text: "The draft is not merged: solve the problems of its texts first." },
};

const STALE = "Somebody published in the meantime. Your draft is kept: merge it first";

/** Refusals that the reader can fix in the review. */
const SHOWN_THERE: readonly string[] = [
  "policy_draft.changed",
  "policy_draft.comment_required",
  "policy_draft.second_administrator",
  "governance.stale_revision",
  "governance.invalid",
];

/** @returns the choices of the form, by path */
function decisionsIn(fields: Fields, prefix = ""): Record<string, Decision> {
  const decisions: Record<string, Decision> = {};
  for (let at = 0; ; at++) {
    const [path, choice] = [fields[`${prefix}path${at}`], fields[`${prefix}choice${at}`]];
    if (path === undefined) return decisions;
    if (choice === "mine" || choice === "theirs") decisions[path] = choice;
  }
}

const areSomeUndecided = (fields: Fields): boolean =>
  Object.keys(fields).some(
    (name) => /^path\d+$/.test(name) && fields[name.replace("path", "choice")] === undefined,
  );

const reviewerOf =
  (domain: RouteContext["domain"], baseUrl: RouteContext["baseUrl"]) =>
  async (
    reader: Reader,
    reference: string | undefined,
    more: Pick<Parameters<typeof reviewPage>[0], "refused"> & { comment?: string | undefined } = {},
  ) => {
    const { actor, organizationId } = reader;
    const { clients, governance, identity } = domain;
    const { drafts, draftPublishing } = governance;
    const draft = reference === undefined ? drafts.existing(actor) : drafts.show(actor, reference);
    const isHidden = isHiddenFrom(reader);
    const written = await draftPublishing.review(actor, draft, isHidden);
    const review = { ...written, changes: withNames(domain, reader, written.changes) };
    const change = { before: review.current, after: draft };
    const { former } = draft.typed;
    const proposed = former === undefined ? "" : `back to ${revisionText({ sequence: former })}`;
    const { comment = proposed, refused } = more;
    return reviewPage({
      draft,
      review,
      refused,
      comment,
      owner: identity.users.find(organizationId, draft.ownerId).email,
      isOwn: draft.ownerId === actor.id,
      address: `${baseUrl()}${REVIEW_PATH}?draft=${draft.id}`,
      impact: await runInTurns(clients.impactOf(organizationId, change), IMPACT_TURN_MS),
      text: drawTextDifference(await governance.views.textDifference(review.base, draft, isHidden)),
    });
  };
