// The parameters of each list's address and the values that they accept. The pages of the lists and saved views check addresses
// here, so that both refuse the same ones. Values that name a user, a group, a revision or a reported harness are checked by the
// page only, because they may disappear at any time.
import { parseDuration, parseExactTime } from "../../platform/clock.ts";
import type { Problem } from "../../platform/errors.ts";
import { quoted } from "../../platform/text/problem-list.ts";
import { AUDIT_ACTIONS } from "../audit/service.ts";
import { HARNESS_KEYS } from "../harnesses/harnesses.ts";
import { readSearchText } from "../shared/page.ts";
import { type ConsoleListPath, choiceProblems, findConsoleList, listPathOf } from "./lists.ts";

/** Maximum number of problems of one address. An address may have thousands of unknown parameters. */
export const ADDRESS_PROBLEMS_MAX = 20;

/** Begins the problem of a parameter that the list does not have. */
export const NO_FILTER = "this list has no filter";
/** Ends the problem of a repeated parameter. */
export const ONLY_ONCE = "must be given only once";

/** Words to choose from, a maximum number of characters, or a kind of value. */
type Rule = readonly string[] | number | "search" | "name" | "day" | "days" | "count" | "duration";

interface Parameters {
  filters: Readonly<Record<string, Rule>>;
  /** values of `sort` */
  sorts?: readonly string[];
  /** how the list is paged: by number unless it says otherwise; some lists do both */
  paging?: "cursor" | "both";
  /** has a fixed page size */
  isFixed?: boolean;
}

const PERSON = { q: "search", role: ["admin", "member"] } as const;
const HARNESS = HARNESS_KEYS;
const CONTENT = {
  q: "search",
  kind: ["skills", "agents", "hooks", "plugins", "helpers"],
  harness: HARNESS,
} as const;
const HEALTH = ["current", "outdated", "attention"];
const LOGIN_KIND = ["device_login", "login_session", "grant"];
const BOOLEAN = ["true", "false"];

const PARAMETERS: Readonly<Record<ConsoleListPath, Parameters>> = {
  "/console/audit": {
    filters: { actor: 320, action: AUDIT_ACTIONS, target: 320, since: "day", until: "day" },
    paging: "cursor",
  },
  "/console/catalog": {
    filters: { ...CONTENT, offer: ["new", "update", "taken"], archive: ["here", "elsewhere"] },
    sorts: ["catalog", "id", "-id"],
  },
  "/console/clients": {
    filters: {
      q: "search",
      user: "name",
      health: HEALTH,
      stale: BOOLEAN,
      harness: "name",
      revision: "name",
      client_version: "name",
      platform: "name",
      last_seen_from: "day",
      last_seen_to: "day",
      not_seen_for_days: "days",
    },
    sorts: ["last_seen", "host", "user", "version"].flatMap((name) => [name, `-${name}`]),
    paging: "both",
  },
  "/console/gateway/keys": {
    filters: {
      q: "search",
      state: ["ready", "error", "invalid", "recovering"],
      problem: BOOLEAN,
      expires_within: "duration",
      user_id: "name",
    },
    paging: "cursor",
  },
  "/console/gateway/models": {
    filters: { q: "search", state: ["available", "changed", "removed", "unknown"], harness: HARNESS },
  },
  "/console/gateway/requests": {
    filters: {
      q: "search",
      user: "name",
      model: 512,
      result: ["success", "redirect", "client_error", "server_error", "transport_error"],
      occurred_from: "day",
      occurred_to: "day",
      bucket: ["hour", "day"],
      harness: 128,
      outcome: ["complete", "client_closed", "upstream_closed", "timeout", "cut", "stopped", "refused"],
      profile_id: 512,
      run_id: 512,
      min_tokens: "count",
      numbers: ["all"],
    },
  },
  "/console/groups": { filters: { q: "search" } },
  "/console/groups/:id": { filters: {} },
  "/console/identity/tokens": { filters: { show: ["all"] } },
  "/console/invitations": { filters: { ...PERSON, status: ["outstanding"] } },
  "/console/logins": {
    filters: { user_id: "name", kind: LOGIN_KIND, show: ["live", "all"] },
    paging: "cursor",
  },
  "/console/mcp": {
    filters: {
      q: "search",
      kind: ["local", "remote"],
      harness: HARNESS,
      state: ["enabled", "disabled"],
    },
  },
  "/console/me/logins": { filters: { kind: LOGIN_KIND }, paging: "cursor" },
  "/console/me/workstations": { filters: { health: HEALTH } },
  "/console/packages": {
    filters: { ...CONTENT, audience: ["organization", "users"], origin: ["catalog", "own"], update: BOOLEAN },
    sorts: ["id", "-id"],
  },
  "/console/policy/history": { filters: {}, paging: "cursor", isFixed: true },
  "/console/sessions": {
    filters: {
      q: "search",
      whose: ["mine"],
      user: "name",
      harness: HARNESS,
      updated_from: "day",
      updated_to: "day",
      status: ["pending", "failed", "superseded"],
    },
    sorts: ["updated", "-updated"],
  },
  "/console/users": {
    filters: {
      ...PERSON,
      status: ["active", "suspended", "removed"],
      provisioning_source: ["local", "scim"],
      group: "name",
      workstations: ["none"],
      not_seen: ["7", "30", "90"],
    },
  },
};

const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && parseExactTime(text) !== undefined;

/** First and last day of a period. */
const PERIODS = [
  ["since", "until"],
  ["last_seen_from", "last_seen_to"],
  ["occurred_from", "occurred_to"],
  ["updated_from", "updated_to"],
] as const;

/**
 * @param query of the address, with or without the position in the list; parameters without a value count as omitted
 * @returns at most ADDRESS_PROBLEMS_MAX problems, with the parameter as pointer; none if the path is not that of a list
 */
export function addressProblems(path: string, query: URLSearchParams): Problem[] {
  const key = listPathOf(path);
  if (key === undefined) return [];
  const rules = rulesOf(PARAMETERS[key]);
  const problems: Problem[] = [];
  const report = (name: string, detail: string) => problems.push({ pointer: `/${name}`, detail });
  const columns = findConsoleList(path)?.columns;
  for (const name of new Set(query.keys())) {
    if (problems.length === ADDRESS_PROBLEMS_MAX) break;
    const [value, ...others] = query.getAll(name).flatMap((text) => text.trim() || []);
    const rule = rules.get(name);
    if (rule === undefined) report(name, `${NO_FILTER} ${quoted(name)}`);
    else if (others.length > 0) report(name, `${name} ${ONLY_ONCE}`);
    else if (name === "columns" || name === "per_page")
      for (const detail of choiceProblems(new URLSearchParams([[name, value ?? ""]]), columns))
        report(name, detail);
    else if (value !== undefined) checkValue({ name, value, rule, problems });
  }
  for (const [from, to] of PERIODS) {
    const [first, last] = [query.get(from)?.trim(), query.get(to)?.trim()];
    if (first && last && isDay(first) && isDay(last) && first > last)
      report(to, `${to} must not be before ${from}`);
  }
  return problems.slice(0, ADDRESS_PROBLEMS_MAX);
}

/** A rule for each parameter of the list. The pages check the position themselves. */
function rulesOf({ filters, sorts = [], paging, isFixed }: Parameters): ReadonlyMap<string, Rule> {
  const numbered = { page: "name", known: "name" } as const;
  const keyed = { cursor: "name" } as const;
  return new Map<string, Rule>(
    Object.entries({
      ...filters,
      sort: sorts,
      columns: "name",
      filters: ["all"],
      select: ["page"],
      ...(!isFixed && { per_page: "name" as const }),
      ...(paging !== "cursor" && numbered),
      ...(paging !== undefined && keyed),
    }),
  );
}

interface Value {
  name: string;
  /** not empty */
  value: string;
  rule: Rule;
  problems: Problem[];
}

function checkValue({ name, value, rule, problems }: Value): void {
  const detail = typeof rule === "string" ? kindProblem(rule, value) : wordProblem(rule, value);
  if (detail !== undefined) problems.push({ pointer: `/${name}`, detail: `${name} ${detail}` });
}

function wordProblem(rule: readonly string[] | number, value: string): string | undefined {
  if (typeof rule === "number")
    return value.length > rule ? `may have at most ${rule} characters` : undefined;
  if (rule.includes(value)) return undefined;
  if (rule.length === 0) return "is not available: the list has a fixed order";
  return `must be ${rule.length === 1 ? "" : "one of "}${rule.join(", ")}`;
}

function kindProblem(kind: Extract<Rule, string>, value: string): string | undefined {
  if (kind === "day" && !isDay(value)) return "must be a day such as 2027-06-30";
  if (kind === "days" && !/^(?!0+$)\d{1,5}$/.test(value)) return "must be a whole number from 1 to 99999";
  if (kind === "count" && !/^\d{1,15}$/.test(value)) return "must be a whole number from 0";
  if (kind === "duration" && parseDuration(value) === undefined)
    return "must be a time such as 7d, 12h or 30m";
  if (kind !== "search") return undefined;
  const found: Problem[] = [];
  readSearchText(value, found);
  return found[0]?.detail.replace(/^q /, "");
}
