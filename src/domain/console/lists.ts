// The console lists whose columns, rows and views users can save: paths, readers and column names. The pages type their columns
// by these names, so an unknown column does not compile.

/** Numbers of rows per page to choose from. */
export const PAGE_SIZES = [25, 50, 100] as const;

const LISTS = {
  "/console/audit": {
    readers: "administrators",
    columns: ["at", "actor", "action", "target", "outcome", "address"],
  },
  "/console/catalog": {
    readers: "administrators",
    columns: ["package", "version", "published", "offer", "contains", "harnesses", "archive"],
  },
  "/console/clients": {
    readers: "administrators",
    columns: ["host", "user", "state", "client", "harnesses", "packages", "revision", "last_seen"],
  },
  "/console/gateway/keys": {
    readers: "administrators",
    columns: ["user", "state", "alias", "expires", "reconciled", "next_attempt", "failures", "problem"],
  },
  "/console/gateway/models": {
    readers: "administrators",
    columns: ["id", "display_name", "state", "assigned_to", "last_seen_at", "first_seen_at"],
  },
  "/console/gateway/requests": {
    readers: "administrators",
    columns: [
      "at",
      "user",
      "model",
      "agent",
      "result",
      "latency_ms",
      "duration_ms",
      "input_tokens",
      "output_tokens",
      "path",
      "outcome",
      "repository",
      "branch",
      "run",
      "key",
      "cost",
      "request",
      "status",
    ],
  },
  "/console/groups": {
    readers: "administrators",
    columns: ["name", "external_id", "members", "role", "changed"],
  },
  "/console/groups/:id": { readers: "administrators", columns: ["member", "name", "state"] },
  "/console/identity/tokens": {
    readers: "administrators",
    columns: ["label", "state", "profile", "last_used", "expires", "created", "action"],
  },
  "/console/invitations": {
    readers: "administrators",
    columns: ["email", "role", "status", "expires_at", "inviter", "actions"],
  },
  "/console/logins": {
    readers: "administrators",
    columns: ["user", "login", "state", "address", "since", "used", "end"],
  },
  "/console/mcp": {
    readers: "administrators",
    columns: ["name", "kind", "target", "harnesses", "state"],
  },
  "/console/me/logins": {
    readers: "anyone",
    columns: ["name", "kind", "address", "signed_in", "used", "expires", "end"],
  },
  "/console/me/workstations": {
    readers: "anyone",
    columns: ["host", "platform", "client_version", "revision", "state", "last_seen", "login"],
  },
  "/console/packages": {
    readers: "administrators",
    columns: ["package", "version", "contains", "harnesses", "audience", "state", "origin", "applied"],
  },
  "/console/policy/history": {
    readers: "administrators",
    columns: ["number", "published", "by", "origin", "summary", "comment", "workstations"],
  },
  "/console/sessions": {
    readers: "anyone",
    columns: [
      "title",
      "harness",
      "user",
      "state",
      "size_bytes",
      "updated_at",
      "retention_expires_at",
      "shared_with",
      "resumable",
      "summary",
      "cwd",
      "repository",
      "profile",
      "native_session_id",
      "recipients",
      "captured_at",
      "lost_at",
      "id",
    ],
  },
  "/console/users": {
    readers: "administrators",
    columns: ["email", "role", "status", "source", "last_seen_at", "workstations", "key"],
  },
} as const;

export type ConsoleListPath = keyof typeof LISTS;
export type ListColumn<Path extends ConsoleListPath> = (typeof LISTS)[Path]["columns"][number];

interface ConsoleList {
  /** who may read the page; auditors read the pages of administrators */
  readers: "anyone" | "administrators";
  /** names of all columns, in any installation and for any reader */
  columns: readonly string[];
}

const isListPath = (path: string): path is ConsoleListPath => Object.hasOwn(LISTS, path);
const GROUP = /^\/console\/groups\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** @returns the path as it is stored, because the page of a group also opens by its id in capitals */
export const storedPath = (path: string): string => (GROUP.test(path) ? path.toLowerCase() : path);

/** @returns the path as in the table above; undefined if the path is not that of a list */
export function listPathOf(path: string): ConsoleListPath | undefined {
  if (GROUP.test(path)) return "/console/groups/:id";
  return isListPath(path) && !path.includes(":") ? path : undefined;
}

/** @returns undefined if the path is not that of a list */
export function findConsoleList(path: string): ConsoleList | undefined {
  const known = listPathOf(path);
  return known && LISTS[known];
}

/**
 * Checks the rows and columns in the query of a list's URL. A form without a choice sends empty values.
 * @param columns names of the list's columns; undefined if the list is unknown
 * @returns one message for each invalid value
 */
export function choiceProblems(query: URLSearchParams, columns: readonly string[] | undefined): string[] {
  const rows = query.getAll("per_page").map((text) => text.trim());
  const choices = query.getAll("columns").map((text) => text.trim());
  return [
    ...(rows.every((text) => text === "" || isPageSize(text))
      ? []
      : [`per_page must be ${PAGE_SIZES.slice(0, -1).join(", ")} or ${PAGE_SIZES.at(-1)}`]),
    ...(columns === undefined || choices.every((text) => text === "" || isColumnChoice(text, columns))
      ? []
      : [
          `columns must be names of this list's columns, either all or none with a + or - before them: ${columns.join(", ")}`,
        ]),
  ];
}

const isPageSize = (text: string): boolean => PAGE_SIZES.some((size) => String(size) === text);

/** @returns whether every name is a column, and either all names or none have a sign */
function isColumnChoice(text: string, columns: readonly string[]): boolean {
  const names = text.split(",");
  const signed = names.filter((name) => /^[-+]/.test(name));
  const plain = signed.length === names.length ? signed.map((name) => name.slice(1)) : names;
  return plain.every((name) => columns.includes(name));
}
