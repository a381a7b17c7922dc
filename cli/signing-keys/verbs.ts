// `signing-keys list` and `signing-keys rotate`.
import type { SigningKeyView } from "../../src/domain/access/service.ts";
import { dateOf, timeOf } from "../details.ts";
import type { Call } from "../in-domain.ts";
import { isConfirmed } from "../prompt.ts";
import type { Column } from "../table.ts";

const COLUMNS: readonly Column<SigningKeyView>[] = [
  { header: "KID", value: ({ kid }) => kid },
  { header: "ALGORITHM", value: ({ algorithm }) => algorithm },
  { header: "STATE", value: ({ state }) => state },
  { header: "CREATED", value: ({ createdAtMs }) => new Date(createdAtMs) },
  { header: "RETIRED", value: ({ retiredAtMs }) => dateOf(retiredAtMs) },
  { header: "VERIFIES UNTIL", value: ({ verifiesUntilMs }) => dateOf(verifiesUntilMs) },
];

export async function list({ domain, output }: Call): Promise<void> {
  const keys = domain.access.keys.list();
  output.list(keys, { columns: COLUMNS, json: keyDocument, empty: "no signing keys" });
}

export async function rotate({ domain, actor, context, command, output }: Call): Promise<void> {
  const action = "make a new signing key and retire the one in use";
  const details = ["Tokens signed so far stay valid until they expire; nobody is logged out."];
  if (!(await isConfirmed(context, command, { action, details }))) return;
  const key = await domain.access.keys.rotate(actor);
  output.result(keyDocument(key), `new tokens are signed with ${key.kid}`);
}

const keyDocument = ({
  kid,
  algorithm,
  state,
  createdAtMs,
  retiredAtMs,
  verifiesUntilMs,
}: SigningKeyView) => ({
  kid,
  algorithm,
  state,
  created_at: timeOf(createdAtMs),
  retired_at: timeOf(retiredAtMs),
  verifies_until: timeOf(verifiesUntilMs),
});
