// `logins list` and `logins show`.
import { toLogin } from "../../../src/domain/access/logins/login-document.ts";
import type { LoginQuery, LoginView } from "../../../src/domain/access/logins/logins.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { LISTED_MAX, PRINTED_MAX } from "../../output/list-pages.ts";
import { KINDS } from "./kinds.ts";
import { LOGIN_COLUMNS, loginText } from "./view.ts";

export async function list(call: Call): Promise<void> {
  const { domain, output, text, has } = call;
  const query: LoginQuery = {
    kind: KINDS.find((kind) => kind === text("kind")),
    userId: userIdOf(call),
    show: has("all") ? "all" : "live",
  };
  using _ = call.moment();
  let isCut = false;
  function* pages(): Generator<readonly LoginView[]> {
    let rows = 0;
    let after: string | undefined;
    do {
      const page = domain.access.logins.list({ ...query, after });
      yield page.items;
      rows += page.items.length;
      after = page.next ?? undefined;
    } while (after !== undefined && rows < PRINTED_MAX);
    isCut = after !== undefined;
  }
  await output.pages(pages, { columns: LOGIN_COLUMNS, json: toLogin, empty: "no logins" });
  if (isCut) output.warning(`showing the newest ${PRINTED_MAX}; narrow the list with --user or --kind`);
}

export async function show({ domain, output, args: [id = ""] }: Call): Promise<void> {
  const login = domain.access.logins.show(id);
  output.result(toLogin(login), loginText(login));
}

/** @returns the id of the user named by `--user`; undefined without the option */
export function userIdOf({ domain, actor, text }: Call): string | undefined {
  const reference = text("user");
  return reference === undefined ? undefined : domain.identity.users.find(actor.organizationId, reference).id;
}

/** @returns the matching logins; reads no further page after LISTED_MAX */
export function readLogins({ domain }: Call, query: LoginQuery): LoginView[] {
  const items: LoginView[] = [];
  let after: string | undefined;
  do {
    const page = domain.access.logins.list({ ...query, after });
    items.push(...page.items);
    after = page.next ?? undefined;
  } while (after !== undefined && items.length < LISTED_MAX);
  return items;
}
