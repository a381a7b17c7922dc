// The list of invitations, the form that creates them, and the result for each line of that form.
/** @jsxImportSource preact */
import type { ListColumn } from "../../../domain/console/service.ts";

import { INVITATION_FILTERS, type Invitation, isOpen, ROLES } from "../../../domain/identity/model.ts";
import type { Page } from "../../../domain/shared/page.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import { countText } from "../../../platform/count-text.ts";
import type { Problem } from "../../../platform/errors.ts";
import { Hidden } from "../../pages/forms.tsx";
import { asSentence, roleText } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { pathWith } from "../list/address.ts";
import { INVITATION_STEP } from "../list/first-step.tsx";
import type { Column, Filter, List, Values } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { options } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { ALL_SHOWN_ONCE } from "../parts/shown-once.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { Copy, State, Text, Time, type Tone, useReader } from "../parts/values.tsx";
import { INVITATION_ACTION_LABELS, INVITATION_ACTIONS, invitationActionPath } from "./invitation-words.ts";
import { INVITATIONS_PATH, PERSON_FILTERS } from "./words.ts";

/** Maximum number of addresses in one form. */
export const INVITED_AT_ONCE_MAX = 100;

const FILTERS: readonly Filter[] = [
  ...PERSON_FILTERS,
  {
    name: "status",
    label: "Status",
    kind: "choice",
    choices: INVITATION_FILTERS.map((value) => ({ value, label: "Not accepted yet" })),
  },
];

/** @param nowMs decides whether a pending invitation is expired in the file */
export const invitationColumns = (
  nowMs: number,
): readonly Column<Invitation, ListColumn<"/console/invitations">>[] => [
  {
    name: "email",
    label: "Address",
    cell: ({ email }) => <Text value={email} />,
    csv: ({ email }) => email,
    isWide: true,
  },
  { name: "role", label: "Role", cell: ({ role }) => roleText(role), csv: ({ role }) => role },
  {
    name: "status",
    label: "Status",
    cell: (invitation) => <Status invitation={invitation} />,
    csv: (invitation) => statusOf(invitation, nowMs),
  },
  {
    name: "expires_at",
    label: "Expires",
    cell: ({ expiresAtMs }) => <Time at={expiresAtMs} />,
    csv: ({ expiresAtMs }) => toRfc3339(expiresAtMs),
  },
  {
    name: "inviter",
    label: "Invited by",
    cell: ({ inviterEmail }) => <Text value={inviterEmail} />,
    csv: ({ inviterEmail }) => inviterEmail,
  },
];

const statusOf = (invitation: Invitation, nowMs: number): Invitation["status"] | "expired" =>
  invitation.status === "pending" && !isOpen(invitation, nowMs) ? "expired" : invitation.status;

const ACTIONS_COLUMN: Column<Invitation, ListColumn<"/console/invitations">> = {
  name: "actions",
  label: "Actions",
  cell: ({ id, email, status }) =>
    status === "pending" &&
    INVITATION_ACTIONS.map((action, index) => (
      <>
        {index > 0 && " · "}
        <a key={action} href={invitationActionPath(id, action)} data-dialog>
          {INVITATION_ACTION_LABELS[action]}
          <span class="visually-hidden"> for {email}</span>
        </a>
      </>
    )),
};

const STATUSES: Readonly<Record<Invitation["status"] | "expired", { label: string; tone: Tone }>> = {
  pending: { label: "Waiting", tone: "attention" },
  accepted: { label: "Accepted", tone: "good" },
  canceled: { label: "Canceled", tone: "neutral" },
  expired: { label: "Expired", tone: "neutral" },
};

function Status({ invitation }: { invitation: Invitation }) {
  const { nowMs } = useReader();
  const { label, tone } = STATUSES[statusOf(invitation, nowMs)];
  return <State tone={tone}>{label}</State>;
}

/** The state of the form, and why it is unavailable. */
export interface InvitationForm {
  /** idempotency key, so that sending the form again invites nobody twice */
  once: string;
  addresses?: string | undefined;
  role?: string | undefined;
  error?: string | undefined;
}

interface InvitationListProps {
  values: Values;
  page: Page<Invitation> | undefined;
  problems?: readonly Problem[] | undefined;
  /** why nobody can be invited now */
  closed: string | undefined;
  /** undefined for read-only readers */
  form: InvitationForm | undefined;
  nowMs: number;
}

export function invitationListPage(props: InvitationListProps): ConsolePage {
  const { values, page, problems = [], closed, form, nowMs } = props;
  const columns = invitationColumns(nowMs);
  const { q, role, status } = values;
  const query = Object.entries({ q, role, status }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const list: List<Invitation> = {
    noun: "invitations",
    filters: FILTERS,
    columns: form && !closed ? [...columns, ACTIONS_COLUMN] : columns,
    rows: page?.items ?? [],
    idOf: ({ id }) => id,
    paging: page ?? { page: 1, perPage: 1, total: 0 },
    none: {
      ...INVITATION_STEP,
      text: "Nobody has been invited yet. Invite the first person with the form above.",
    },
    problems,
    csvPath: `${INVITATIONS_PATH}.csv`,
    command: ["invitations", "list", ...options({ q, role, status })],
    api: { method: "GET", path: pathWith("/admin/invitations", new URLSearchParams(query)) },
  };
  const isError = problems.length > 0 || form?.error !== undefined;
  return {
    title: "Invitations",
    status: form?.error === undefined ? listStatus(list) : 400,
    isError,
    content: (
      <>
        {closed !== undefined && <p class="notice attention">Nobody can be invited: {closed}.</p>}
        {form && closed === undefined && <NewInvitations form={form} />}
        <ListView list={list} />
      </>
    ),
  };
}

function NewInvitations({
  form: { once, addresses = "", role = "member", error },
}: {
  form: InvitationForm;
}) {
  return (
    <details class="invite" open={error !== undefined || addresses !== ""}>
      <summary>Invite people</summary>
      <ConsoleForm action={INVITATIONS_PATH} edits={error === undefined ? "saved" : "refused"}>
        <Hidden name="once" value={once} />
        <div class="field">
          <label for="addresses">Addresses</label>
          <p class="hint" id="addresses-hint">
            One or up to {INVITED_AT_ONCE_MAX}, one on each line. Only the next page shows the links, for you
            to send.
          </p>
          {error !== undefined && (
            <p class="field-error" id="addresses-error">
              {error}
            </p>
          )}
          <textarea
            id="addresses"
            name="addresses"
            rows={4}
            required
            aria-invalid={error !== undefined}
            aria-describedby={error === undefined ? "addresses-hint" : "addresses-hint addresses-error"}
          >
            {addresses}
          </textarea>
        </div>
        <div class="field narrow">
          <label for="role">Role</label>
          <select id="role" name="role">
            {ROLES.toReversed().map((value) => (
              <option key={value} value={value} selected={value === role}>
                {roleText(value)}
              </option>
            ))}
          </select>
        </div>
        <button class="button primary" type="submit">
          Invite
        </button>
      </ConsoleForm>
    </details>
  );
}

/** The result of one line. */
export type InvitationResult = { address: string } & ({ link: string } | { refusal: string });

/** @returns the response to the form: a link or a reason for each address */
export const invitationResultPage = (results: readonly InvitationResult[]): ConsolePage => {
  const invited = results.filter((result) => "link" in result).length;
  return {
    title: countText(invited, "person invited", "people invited"),
    breadcrumbs: [{ href: INVITATIONS_PATH, label: "Invitations" }],
    content: (
      <>
        {invited > 0 && (
          <p>
            The links work for 24 hours. Quartermaster sends no mail: send each link to its person yourself.{" "}
            {ALL_SHOWN_ONCE}
          </p>
        )}
        <table class="rows">
          <caption class="visually-hidden">Results</caption>
          <TableHead labels={["Address", "Result"]} />
          <tbody>
            {results.map((result, index) => (
              <tr key={index}>
                <td data-label="Address" class="wide">
                  <Text value={result.address} />
                </td>
                <td data-label="Result">
                  {"link" in result ? (
                    <>
                      <code>{result.link}</code>{" "}
                      <Copy text={result.link} what={`link for ${result.address}`} />
                    </>
                  ) : (
                    <>
                      <State tone="bad">Not invited</State> {asSentence(result.refusal)}
                    </>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <p>
          <a href={INVITATIONS_PATH}>All invitations</a>
        </p>
      </>
    ),
  };
};
