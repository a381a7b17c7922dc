// `identities list`.

import { toIdentity } from "../../../src/domain/sso/identities/identity-document.ts";
import type { IdentityView } from "../../../src/domain/sso/service.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { dateOf } from "../../output/details.ts";
import { PRINTED_MAX } from "../../output/list-pages.ts";
import type { Column } from "../../output/table.ts";

const PAGE_ROWS = 500;

const IDENTITY_COLUMNS: readonly Column<IdentityView>[] = [
  { header: "USER", value: ({ email }) => email },
  { header: "ISSUER", value: ({ issuer }) => issuer },
  { header: "SUBJECT", value: ({ subject }) => subject, isWhole: true },
  { header: "LINKED BY", value: ({ linkedBy }) => linkedBy },
  { header: "LAST SIGN-IN", value: ({ lastSignInAtMs }) => dateOf(lastSignInAtMs) },
  { header: "LINKED", value: ({ linkedAtMs }) => new Date(linkedAtMs), isWide: true },
  { header: "USER ID", value: ({ userId }) => userId, isWide: true },
];

export async function list(call: Call): Promise<void> {
  const { domain, actor, output, text } = call;
  const reference = text("user");
  const userId =
    reference === undefined ? undefined : domain.identity.users.find(actor.organizationId, reference).id;
  const filter = { userId, issuer: text("issuer") };
  using _ = call.moment();
  const { identities } = domain.sso;
  const first = identities.list({ ...filter, limit: PAGE_ROWS });
  function* pages(): Generator<readonly IdentityView[]> {
    let { items } = first;
    for (let rows = 0; ; ) {
      yield items;
      rows += items.length;
      const after = items.at(-1);
      if (after === undefined || rows >= Math.min(first.total, PRINTED_MAX)) return;
      ({ items } = identities.list({ ...filter, after, limit: PAGE_ROWS }));
    }
  }
  if (first.total > PRINTED_MAX)
    output.warning(`showing the first ${PRINTED_MAX} of ${first.total}; narrow the list with --user`);
  const listing = { columns: IDENTITY_COLUMNS, json: toIdentity, empty: "no identities" };
  await output.pages(pages, listing, { total: first.total });
}
