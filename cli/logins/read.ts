// `logins list` and `logins show`.
import { toLogin } from "../../src/domain/access/login-document.ts";
import type { LoginQuery, LoginView } from "../../src/domain/access/logins.ts";
import type { Call } from "../in-domain.ts";
import { LISTED_MAX } from "../pages.ts";
import { KINDS } from "./kinds.ts";
import { LOGIN_COLUMNS, loginText } from "./view.ts";

export async function list(call: Call): Promise<void> {
  const { output, text, has } = call;
  const query: LoginQuery = {
    kind: KINDS.find((kind) => kind === text("kind")),
    userId: userIdOf(call),
    show: has("all") ? "all" : "live",
  };
  const { items, isWhole } = readLogins(call, query);
  if (!isWhole) output.warning(`these are the newest ${items.length}; narrow the list with --user or --kind`);
  output.list(items, { columns: LOGIN_COLUMNS, json: toLogin, empty: "no logins" });
}

export async function show({ domain, output, args: [id = ""] }: Call): Promise<void> {
  const login = domain.access.logins.show(id);
  output.result(toLogin(login), loginText(login));
}

/** @returns the id of the user of `--user`, nothing without it */
export function userIdOf({ domain, actor, text }: Call): string | undefined {
  const reference = text("user");
  return reference === undefined ? undefined : domain.identity.users.find(actor.organizationId, reference).id;
}

/** @returns logins up to LISTED_MAX, and whether those are all */
export function readLogins({ domain }: Call, query: LoginQuery): { items: LoginView[]; isWhole: boolean } {
  const items: LoginView[] = [];
  let after: string | undefined;
  do {
    const page = domain.access.logins.list({ ...query, after });
    items.push(...page.items);
    after = page.next ?? undefined;
  } while (after !== undefined && items.length < LISTED_MAX);
  return { items, isWhole: after === undefined };
}
