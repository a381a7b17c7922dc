// The tokens of identity providers: the list, and the confirmation of a revocation.
/** @jsxImportSource preact */
import type { ListColumn } from "../../../domain/console/service.ts";
import { CONFIGURED } from "../../../domain/scim/tokens/token-model.ts";
import type { ScimTokenView } from "../../../domain/scim/tokens/tokens.ts";
import type { Page } from "../../../domain/shared/page.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import type { Column, Filter, List, Values } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { confirmationPage } from "../parts/form.tsx";
import { State, Text, Time, useReader } from "../parts/values.tsx";
import {
  FIRST_TOKEN,
  IDENTITY_PATH,
  NEW_TOKEN_PATH,
  PROFILE_TEXT,
  revokePath,
  TOKEN_STATES,
  TOKENS_PATH,
} from "./words.ts";

/** Value of the filter that shows revoked tokens too. */
export const ALL_TOKENS = "all";

const BREADCRUMBS = [{ href: IDENTITY_PATH, label: "Identity" }];

const FILTERS: readonly Filter[] = [
  {
    name: "show",
    label: "Show",
    kind: "choice",
    choices: [{ value: ALL_TOKENS, label: "Revoked ones too" }],
  },
];

const COLUMNS: readonly Column<ScimTokenView, ListColumn<"/console/identity/tokens">>[] = [
  {
    name: "label",
    label: "Label",
    isWide: true,
    cell: ({ label, prefix }) => (
      <>
        <Text value={label} /> {prefix !== null && <code class="detail">{prefix}…</code>}
      </>
    ),
  },
  {
    name: "state",
    label: "State",
    cell: ({ state }) => <State tone={TOKEN_STATES[state].tone}>{TOKEN_STATES[state].label}</State>,
  },
  { name: "profile", label: "Profile", cell: ({ profile }) => PROFILE_TEXT[profile] },
  { name: "last_used", label: "Last used", cell: ({ lastUsedAtMs }) => <Time at={lastUsedAtMs} /> },
  { name: "expires", label: "Expires", cell: ({ expiresAtMs }) => <Time at={expiresAtMs} /> },
  {
    name: "created",
    label: "Created",
    cell: ({ createdAtMs, createdBy }) => (
      <>
        <Time at={createdAtMs} none="" /> by <Text value={createdBy} />
      </>
    ),
  },
  { name: "action", label: "Action", cell: (token) => <Action token={token} /> },
];

function Action({ token: { id, label, state } }: { token: ScimTokenView }) {
  const { mayAdminister } = useReader();
  if (id === CONFIGURED) return <span class="muted">Part of the configuration</span>;
  if (state === "revoked" || !mayAdminister) return <Text value={null} />;
  return (
    <a href={revokePath(id)} data-dialog aria-label={`Revoke ${label}`}>
      Revoke
    </a>
  );
}

interface TokensProps {
  values: Values;
  page: Page<ScimTokenView> | undefined;
  problems?: readonly Problem[] | undefined;
}

export function tokensPage({ values, page, problems = [] }: TokensProps): ConsolePage {
  const list: List<ScimTokenView> = {
    noun: "tokens",
    filters: FILTERS,
    columns: COLUMNS,
    rows: page?.items ?? [],
    idOf: ({ id }) => id,
    paging: page ?? { next: null, isFirst: true },
    none: {
      text: "There is no token yet. Create one, and enter it at the identity provider.",
      command: FIRST_TOKEN,
    },
    problems,
    command: ["scim", "tokens", "list", ...(values.show === ALL_TOKENS ? ["--all"] : [])],
    api: { method: "GET", path: "/admin/scim/tokens" },
  };
  return {
    title: "SCIM tokens",
    status: listStatus(list),
    isError: problems.length > 0,
    breadcrumbs: BREADCRUMBS,
    content: (
      <>
        <CreateLink />
        <ListView list={list} />
      </>
    ),
  };
}

function CreateLink() {
  const { mayAdminister } = useReader();
  if (!mayAdminister) return null;
  return (
    <p>
      <a class="button" href={NEW_TOKEN_PATH}>
        Create a token
      </a>
    </p>
  );
}

/** @returns the page that asks before a token is revoked */
export const revokeTokenPage = ({ id, label, lastUsedAtMs }: ScimTokenView): ConsolePage =>
  confirmationPage({
    title: `Revoke token ${label}?`,
    consequences: [
      "The provider's next request with this token is refused. Users and groups stay. Other tokens stay valid.",
      <>
        Last used: <Time at={lastUsedAtMs} />.
      </>,
    ],
    action: revokePath(id),
    verb: "Revoke token",
    back: TOKENS_PATH,
    breadcrumbs: [...BREADCRUMBS, { href: TOKENS_PATH, label: "SCIM tokens" }],
    command: ["scim", "tokens", "revoke", id],
    api: { method: "DELETE", path: `/admin/scim/tokens/${id}` },
  });
