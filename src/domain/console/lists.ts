// The lists of the console whose columns, rows and views people save: paths, readers and names of columns. The pages type their
// columns by these names, so a column that is not here does not compile.

/** Numbers of rows that a reader may choose. */
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
/** Name of a column of the list. */
export type ListColumn<Path extends ConsoleListPath> = (typeof LISTS)[Path]["columns"][number];

/** A list of the console. */
interface ConsoleList {
  /** whose page it is; auditors read the pages of administrators */
  readers: "anyone" | "administrators";
  /** names of the columns of every installation and every reader */
  columns: readonly string[];
}

const KNOWN: ReadonlyMap<string, ConsoleList> = new Map(Object.entries(LISTS));
const GROUP = /^\/console\/groups\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** @returns the path as it is stored: the page of a group opens by its id in capitals too */
export const storedPath = (path: string): string => (GROUP.test(path) ? path.toLowerCase() : path);

/** @returns undefined if the page of this path is not a list */
export const findConsoleList = (path: string): ConsoleList | undefined =>
  KNOWN.get(GROUP.test(path) ? "/console/groups/:id" : path.includes(":") ? "" : path);

/**
 * Checks the rows and columns in the query of a list's address. Empty values are those of a form without a choice.
 * @param columns names of the list's columns; undefined if the list is unknown
 * @returns one sentence for each value that the list cannot use
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
          `columns must be names of columns of this list, all or none with + or - before: ${columns.join(", ")}`,
        ]),
  ];
}

const isPageSize = (text: string): boolean => PAGE_SIZES.some((size) => String(size) === text);

/** Whether every name is that of a column; either all names have a sign, or none. */
function isColumnChoice(text: string, columns: readonly string[]): boolean {
  const names = text.split(",");
  const signed = names.filter((name) => /^[-+]/.test(name));
  const plain = signed.length === names.length ? signed.map((name) => name.slice(1)) : names;
  return plain.every((name) => columns.includes(name));
}
