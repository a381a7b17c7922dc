// Pages about invitations: the list, creating many at once, and actions on one.
import { type Invitation, invitationUrl } from "../../../../domain/identity/model.ts";
import { readWord, WALK_PAGE_MAX } from "../../../../domain/shared/page.ts";
import { DomainError } from "../../../../platform/errors.ts";
import { sha256Hex } from "../../../../platform/ids.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import { excerpt } from "../../../../platform/text/problem-list.ts";
import type { Console } from "../../../console/console.ts";
import { refusalText } from "../../../console/frame/refusal-words.ts";
import { csvRoute, walkPages } from "../../../console/list/csv.ts";
import { found, lastPageAddress, listValues, placeIn } from "../../../console/list/list.ts";
import { confirmationPage } from "../../../console/parts/form.tsx";
import {
  INVITED_AT_ONCE_MAX,
  type InvitationForm,
  type InvitationResult,
  invitationColumns,
  invitationListPage,
  invitationResultPage,
} from "../../../console/people/invitation-list.tsx";
import {
  INVITATION_ACTIONS,
  type InvitationAction,
  invitationConfirmation,
} from "../../../console/people/invitation-words.ts";
import { endedLinkPage, linkPage } from "../../../console/people/link-page.tsx";
import { INVITATIONS_PATH } from "../../../console/people/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { HttpError } from "../../../http/problems/problem.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute, seeOther } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { needsConfirmation } from "../../pages/factor-confirmation-pages.ts";
import { exportResponse } from "../lists/list-export.ts";

const NewInvitations = formOf({
  csrf: FormField,
  by: FormField,
  once: FormField,
  addresses: FormField,
  role: FormField,
});
const Confirmed = formOf({ csrf: FormField, by: FormField, once: FormField });
const NEEDED = { needs: "administrator", back: INVITATIONS_PATH } as const;
/** Longer text is not shown again, because refuseLongPage would replace the page together with the reason. */
export const REPEATED_CHARACTERS_MAX = 8_192;

export function invitationPages(context: RouteContext, console: Console) {
  const { identity } = context.domain;
  const { invitations } = identity;
  const inviteAll = createInviteAll(context);

  const showList = async (reader: Reader, sent?: InvitationForm) => {
    const values = sent ? {} : listValues(reader);
    const { q, role, status } = values;
    const wanted = { q, role, status, ...placeIn(values) };
    const { rows, problems } = await found(() =>
      runInTurns(invitations.listInSteps(reader.organizationId, wanted)),
    );
    const last = rows && lastPageAddress(reader, rows);
    if (last !== undefined) return seeOther(last);
    const form = sent ?? { once: crypto.randomUUID() };
    const closed = identity.canInvite() ? undefined : CLOSED;
    return invitationListPage({
      values,
      page: rows,
      problems,
      closed,
      form: reader.mayAdminister ? form : undefined,
      nowMs: reader.nowMs,
    });
  };

  context.router
    .get(
      INVITATIONS_PATH,
      ({ request }) => console.show(request, "administrator", (reader) => showList(reader)),
      pageRoute("showInvitationsPage", "Invitations as a list"),
    )
    .get(
      `${INVITATIONS_PATH}.csv`,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const { q, role, status } = listValues(reader);
          const walk = { q, role, status, perPage: WALK_PAGE_MAX, isWalk: true, known: 0 };
          const pages = await walkPages<Invitation>(async (after) => {
            const page = invitations.listInSteps(reader.organizationId, { ...walk, after });
            return (await runInTurns(page)).items;
          });
          const columns = invitationColumns(reader.nowMs);
          return exportResponse(context.domain, reader, { list: "invitations", columns, pages });
        }),
      csvRoute("downloadInvitations", "Invitations as a CSV file"),
    )
    .post(
      INVITATIONS_PATH,
      ({ request, body }) =>
        console.act(request, body, NEEDED, async (reader) => {
          const { once = crypto.randomUUID(), addresses: text, role = "member" } = body;
          const addresses = addressesIn(text ?? "");
          const error = problemOf(addresses);
          const repeated = text && text.length > REPEATED_CHARACTERS_MAX ? undefined : text;
          if (error !== undefined) return showList(reader, { once, addresses: repeated, role, error });
          return invitationResultPage(await inviteAll(reader, { addresses, role, once }));
        }),
      formRoute(NewInvitations, formOperation("sendInvitations", "Invites addresses and shows their links")),
    );
  invitationActionPages(context, console);
}

function invitationActionPages(context: RouteContext, console: Console) {
  const { invitations } = context.domain.identity;
  const perform = createPerform(context);

  return context.router
    .get(
      `${INVITATIONS_PATH}/:id/:action`,
      ({ request, params }) =>
        console.show(request, "administrator", (reader) => {
          const invitation = invitations.show(reader.organizationId, params.id.toLowerCase());
          const once = crypto.randomUUID();
          return confirmationPage(invitationConfirmation(invitation, actionIn(params.action), once));
        }),
      pageRoute("showInvitationActionPage", "Asks before an action on an invitation"),
    )
    .post(
      `${INVITATIONS_PATH}/:id/:action`,
      ({ request, params, body }) =>
        console.act(request, body, NEEDED, (reader) =>
          perform[actionIn(params.action)](reader, params.id.toLowerCase(), body.once),
        ),
      formRoute(Confirmed, formOperation("sendInvitationAction", "Renews or cancels an invitation")),
    );
}

const CLOSED = "the identity provider manages sign-in. Add people there";

/**
 * @returns the pasted addresses without duplicates: separated by spaces, commas, semicolons or lines, with or without angle
 *   brackets
 */
const addressesIn = (text: string): string[] => [
  ...new Set(
    text
      .split(/[\s,;]+/)
      .map((word) => word.replace(/^<(.*)>$/, "$1"))
      .filter((word) => word !== ""),
  ),
];

function problemOf(addresses: readonly string[]): string | undefined {
  if (addresses.length === 0) return "Enter at least one address.";
  if (addresses.length <= INVITED_AT_ONCE_MAX) return undefined;
  return `You entered ${addresses.length} addresses. Invite at most ${INVITED_AT_ONCE_MAX} at a time.`;
}

function actionIn(text: string): InvitationAction {
  const action = readWord(text, { name: "action", words: INVITATION_ACTIONS, problems: [] });
  if (action === undefined) throw new HttpError(404, "console.no_page", "there is no such page");
  return action;
}

interface Invited {
  addresses: readonly string[];
  role: string;
  /** idempotency key of the form */
  once: string;
}

/** @returns a function that invites the addresses one by one, in order; sending the form again returns the same links */
function createInviteAll({ domain, baseUrl }: RouteContext) {
  const inviteOne = async ({ actor }: Reader, email: string, invited: Omit<Invited, "addresses">) => {
    const { role, once } = invited;
    const wanted = { email, role, idempotencyKey: once };
    const { token } = await domain.identity.invitations.create(actor, wanted);
    if (!domain.identity.invitations.findByToken(token)) throw linkEnded();
    return invitationUrl(baseUrl(), token).reveal();
  };

  return async (reader: Reader, { addresses, role, once }: Invited): Promise<InvitationResult[]> => {
    const results: InvitationResult[] = [];
    for (const address of addresses) {
      try {
        // derived from the line instead of its position, because the form may be sent again with other addresses
        const key = `${once}:${sha256Hex(JSON.stringify([address, role]))}`;
        const link = await inviteOne(reader, address, { role, once: key });
        results.push({ address, link });
      } catch (error) {
        if (!(error instanceof DomainError) || concernsForm(error)) throw error;
        results.push({ address: excerpt(address), refusal: excerpt(refusalText(error)) });
      }
    }
    return results;
  };
}

/** @returns whether every line would be refused */
const concernsForm = (error: DomainError): boolean =>
  needsConfirmation(error) || error.reason === "idempotency.key_invalid";

const linkEnded = (): DomainError =>
  new DomainError(
    "conflict",
    "invitation.link_ended",
    "this form invited the address earlier, and its link no longer works: it was accepted, canceled, replaced or has expired",
  );

/** @returns the function of each action on an invitation */
function createPerform({ domain, baseUrl }: RouteContext) {
  const { invitations } = domain.identity;
  return {
    "new-link": async ({ actor }: Reader, id: string, once: string | undefined) => {
      const { invitation, token } = await invitations.regenerate(actor, id, { idempotencyKey: once });
      const shown = { title: "New invitation link", back: { href: INVITATIONS_PATH, label: "Invitations" } };
      if (!invitations.findByToken(token)) return endedLinkPage(shown);
      return linkPage({
        ...shown,
        children: `With this link, ${invitation.email} joins this installation.`,
        link: invitationUrl(baseUrl(), token).reveal(),
        expiresAtMs: invitation.expiresAtMs,
      });
    },
    extend: async ({ actor }: Reader, id: string) => {
      const { email } = await invitations.resend(actor, id);
      return { to: INVITATIONS_PATH, notice: `The link of ${email} works for another 24 hours.` };
    },
    cancel: async ({ actor, organizationId }: Reader, id: string) => {
      const { email } = invitations.show(organizationId, id);
      await invitations.cancel(actor, id);
      return { to: INVITATIONS_PATH, notice: `The invitation of ${email} is canceled.` };
    },
  };
}
