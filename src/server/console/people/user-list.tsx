// The list of users: filters, columns, and the equivalent command.
/** @jsxImportSource preact */

import type { UserFigures } from "../../../domain/clients/service.ts";
import type { ListColumn } from "../../../domain/console/service.ts";
import type { KeyState } from "../../../domain/gateway/model.ts";
import { PROVISIONING_SOURCES, USER_STATUSES, type User } from "../../../domain/identity/model.ts";
import { BULK_USER_ACTIONS } from "../../../domain/identity/users/bulk-changes.ts";
import type { Page } from "../../../domain/shared/page.ts";
import { NO_WORKSTATION } from "../../../domain/user-filters.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Problem } from "../../../platform/errors.ts";
import { roleText } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { pathWith } from "../list/address.ts";
import { INVITATION_STEP } from "../list/first-step.tsx";
import type { Column, Filter, List, Values } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import type { Equivalents } from "../parts/command.tsx";
import { Count, State, Text, Time } from "../parts/values.tsx";
import { USER_BULK, userFilter, userOptions } from "./user-bulk.ts";
import {
  INVITATIONS_PATH,
  KEY_LABELS,
  PERSON_FILTERS,
  SOURCE_LABELS,
  STATUS_LABELS,
  USERS_PATH,
  userPath,
} from "./words.ts";

/** One row. */
export interface ListedUser extends User, UserFigures {
  key: KeyState;
}

/** Days after which the filter counts users as not seen recently. */
export const NOT_SEEN_DAYS = ["7", "30", "90"] as const;
export const USER_FILTERS: readonly Filter[] = [
  ...PERSON_FILTERS,
  {
    name: "status",
    label: "Status",
    kind: "choice",
    choices: USER_STATUSES.map((value) => ({ value, label: STATUS_LABELS[value].label })),
  },
  {
    name: "provisioning_source",
    label: "Managed by",
    kind: "choice",
    choices: PROVISIONING_SOURCES.map((value) => ({ value, label: SOURCE_LABELS[value] })),
  },
  { name: "group", label: "Group", kind: "text", hint: "Name or id", isOptional: true },
  {
    name: "workstations",
    label: "Workstations",
    kind: "choice",
    choices: [{ value: NO_WORKSTATION, label: "None" }],
    isOptional: true,
  },
  {
    name: "not_seen",
    label: "Not seen for",
    kind: "choice",
    choices: NOT_SEEN_DAYS.map((value) => ({ value, label: `${value} days` })),
    isOptional: true,
  },
];

const COLUMNS: readonly Column<ListedUser, ListColumn<"/console/users">>[] = [
  {
    name: "email",
    label: "Address",
    cell: ({ id, email }) => (
      <a href={userPath(id)}>
        <Text value={email} />
      </a>
    ),
    csv: ({ email }) => email,
    isWide: true,
  },
  {
    name: "role",
    label: "Role",
    cell: ({ role }) => roleText(role),
    csv: ({ role }) => role,
  },
  {
    name: "status",
    label: "Status",
    cell: ({ status }) => <State tone={STATUS_LABELS[status].tone}>{STATUS_LABELS[status].label}</State>,
    csv: ({ status }) => status,
  },
  {
    name: "source",
    label: "Managed by",
    cell: ({ provisioningSource }) => SOURCE_LABELS[provisioningSource],
    csv: ({ provisioningSource }) => provisioningSource,
  },
  {
    name: "last_seen_at",
    label: "Last seen",
    cell: ({ lastSeenAtMs }) => <Time at={lastSeenAtMs} />,
    csv: ({ lastSeenAtMs }) => (lastSeenAtMs === null ? "" : toRfc3339(lastSeenAtMs)),
  },
  {
    name: "workstations",
    label: "Workstations",
    cell: ({ workstations }) => <Count value={workstations} />,
    csv: ({ workstations }) => workstations,
    isNumber: true,
  },
];

const KEY_COLUMN: Column<ListedUser, ListColumn<"/console/users">> = {
  name: "key",
  label: "Gateway key",
  cell: ({ key }) => <State tone={KEY_LABELS[key].tone}>{KEY_LABELS[key].label}</State>,
  csv: ({ key }) => key,
};

/** @returns the columns of this installation */
export const userColumns = (hasGateway: boolean): readonly Column<ListedUser>[] =>
  hasGateway ? [...COLUMNS, KEY_COLUMN] : COLUMNS;

interface UserListProps {
  values: Values;
  page: Page<ListedUser> | undefined;
  problems?: readonly Problem[] | undefined;
  hasGateway: boolean;
  mayAdminister: boolean;
}

const BULK = BULK_USER_ACTIONS.map((name) => ({ name, label: USER_BULK.words[name].label }));

export function userListPage({
  values,
  page,
  problems = [],
  hasGateway,
  mayAdminister,
}: UserListProps): ConsolePage {
  const list: List<ListedUser> = {
    noun: "users",
    filters: USER_FILTERS,
    columns: userColumns(hasGateway),
    rows: page?.items ?? [],
    idOf: ({ id }) => id,
    paging: page ?? { page: 1, perPage: 1, total: 0 },
    none: {
      ...INVITATION_STEP,
      text: (
        <>
          There are no users yet. <a href={INVITATIONS_PATH}>Invite the first one</a>.
        </>
      ),
    },
    problems,
    csvPath: `${USERS_PATH}.csv`,
    bulk: mayAdminister ? { path: USER_BULK.path, actions: BULK } : undefined,
    ...equivalentsOf(values),
  };
  return {
    title: "Users",
    status: listStatus(list),
    isError: problems.length > 0,
    content: <ListView list={list} />,
  };
}

/** @returns the same list as a command and for a program */
function equivalentsOf(values: Values): Equivalents {
  const query = new URLSearchParams(
    Object.entries(userFilter(values)).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  );
  return {
    command: ["users", "list", ...userOptions(values)],
    api: { method: "GET", path: pathWith("/admin/users", query) },
  };
}
