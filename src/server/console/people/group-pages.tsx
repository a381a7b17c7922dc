// Groups of the identity provider: the list, and one group with its members. Both are read only: the provider changes them.
/** @jsxImportSource preact */
import type { ListColumn } from "../../../domain/console/service.ts";

import type { Role } from "../../../domain/identity/service.ts";
import type { MemberView } from "../../../domain/scim/groups/group-directory.ts";
import type { GroupRow } from "../../../domain/scim/model.ts";
import type { Page } from "../../../domain/shared/page.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Problem } from "../../../platform/errors.ts";
import { asSentence, roleText } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { FIRST_TOKEN, IDENTITY_PATH, TOKENS_PATH } from "../identity/words.ts";
import { pathWith } from "../list/address.ts";
import type { Column, Filter, List, Values } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { options } from "../parts/command.tsx";
import { Count, Facts, Id, State, Text, Time } from "../parts/values.tsx";
import { GROUPS_PATH, userPath } from "./words.ts";

/** One row: the role that the setting gives the members, if it names the group. */
export interface ListedGroup extends GroupRow {
  role: Role;
}

/** Setting that maps groups to roles. */
const MAPPING_SETTING = "scim.group_role_mappings";

const FILTERS: readonly Filter[] = [
  { name: "q", label: "Search", kind: "search", hint: "Name or external id" },
];

export const GROUP_COLUMNS: readonly Column<ListedGroup, ListColumn<"/console/groups">>[] = [
  {
    name: "name",
    label: "Group",
    cell: ({ id, displayName }) => (
      <a href={`${GROUPS_PATH}/${id}`}>
        <Text value={displayName} />
      </a>
    ),
    csv: ({ displayName }) => displayName,
    isWide: true,
  },
  {
    name: "external_id",
    label: "External id",
    cell: ({ externalId }) => <Text value={externalId} />,
    csv: ({ externalId }) => externalId,
  },
  {
    name: "members",
    label: "Members",
    cell: ({ memberCount }) => <Count value={memberCount} />,
    csv: ({ memberCount }) => memberCount,
    isNumber: true,
  },
  {
    name: "role",
    label: "Role of members",
    cell: ({ role }) => roleText(role),
    csv: ({ role }) => role,
  },
  {
    name: "changed",
    label: "Changed",
    cell: ({ updatedAtMs }) => <Time at={updatedAtMs} />,
    csv: ({ updatedAtMs }) => toRfc3339(updatedAtMs),
  },
];

interface GroupListProps {
  values: Values;
  page: Page<ListedGroup> | undefined;
  problems?: readonly Problem[] | undefined;
  /** problems of the mapping of groups to roles */
  warnings: readonly string[];
}

export function groupListPage({ values, page, problems = [], warnings }: GroupListProps): ConsolePage {
  const list: List<ListedGroup> = {
    noun: "groups",
    filters: FILTERS,
    columns: GROUP_COLUMNS,
    rows: page?.items ?? [],
    idOf: ({ id }) => id,
    paging: page ?? { page: 1, perPage: 1, total: 0 },
    none: {
      text: (
        <>
          There are no groups yet. The identity provider delivers them; give it{" "}
          <a href={TOKENS_PATH}>a token</a> first.
        </>
      ),
      command: FIRST_TOKEN,
    },
    problems,
    csvPath: `${GROUPS_PATH}.csv`,
    command: ["groups", "list", ...options({ q: values.q })],
    api: {
      method: "GET",
      path: pathWith("/admin/groups", new URLSearchParams(values.q === undefined ? {} : { q: values.q })),
    },
  };
  return {
    title: "Groups",
    status: listStatus(list),
    isError: problems.length > 0,
    content: (
      <>
        <p class="muted">
          The identity provider manages groups. The setting <code>{MAPPING_SETTING}</code> gives their members
          a role.
        </p>
        {warnings.length > 0 && (
          <div class="notice attention">
            {warnings.map((warning) => (
              <p key={warning}>
                <Text value={asSentence(warning)} />
              </p>
            ))}
          </div>
        )}
        <ListView list={list} />
      </>
    ),
  };
}

const MEMBER_COLUMNS: readonly Column<MemberView, ListColumn<"/console/groups/:id">>[] = [
  {
    name: "member",
    label: "Member",
    cell: ({ id, label }) => (
      <a href={userPath(id)}>
        <Text value={label} />
      </a>
    ),
    isWide: true,
  },
  { name: "name", label: "Name at the provider", cell: ({ userName }) => <Text value={userName} /> },
  {
    name: "state",
    label: "State",
    cell: ({ active }) => <State tone={active ? "good" : "neutral"}>{active ? "Active" : "Inactive"}</State>,
  },
];

export function groupPage({
  group,
  members,
  problems = [],
}: {
  group: ListedGroup;
  members: Page<MemberView> | undefined;
  problems?: readonly Problem[] | undefined;
}): ConsolePage {
  const { id, displayName, externalId, memberCount, role, updatedAtMs } = group;
  const list: List<MemberView> = {
    noun: "members",
    filters: [],
    columns: MEMBER_COLUMNS,
    rows: members?.items ?? [],
    idOf: (member) => member.id,
    paging: members ?? { page: 1, perPage: 1, total: 0 },
    none: {
      text: (
        <>
          The group has no members. The identity provider adds and removes them:{" "}
          <a href={IDENTITY_PATH}>its last requests</a>.
        </>
      ),
      purpose: "The same on the server",
      command: ["scim", "status"],
    },
    problems,
    command: ["groups", "show", id],
    api: { method: "GET", path: `/admin/groups/${id}` },
  };
  return {
    title: displayName,
    breadcrumbs: [{ href: GROUPS_PATH, label: "Groups" }],
    status: listStatus(list),
    content: (
      <>
        <Facts
          facts={[
            { label: "Members", value: <Count value={memberCount} /> },
            { label: "Role of members", value: roleText(role) },
            { label: "External id", value: <Text value={externalId} /> },
            { label: "Changed", value: <Time at={updatedAtMs} /> },
            { label: "Id", value: <Id value={id} /> },
          ]}
        />
        <ListView list={list} />
      </>
    ),
  };
}
