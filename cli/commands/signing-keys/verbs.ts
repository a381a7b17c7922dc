// `signing-keys list` and `signing-keys rotate`, for the keys of access tokens and of inference tokens.
import { gatewayOff } from "../../../src/domain/gateway/keys/keys.ts";
import { signingKeyDocument, type TokenKey } from "../../../src/domain/system/key-document.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { dateOf } from "../../output/details.ts";
import type { Column } from "../../output/table.ts";

const COLUMNS: readonly Column<TokenKey>[] = [
  { header: "KID", value: ({ kid }) => kid },
  { header: "SIGNS", value: ({ signs }) => signs.replace("_", " ") },
  { header: "ALGORITHM", value: ({ algorithm }) => algorithm },
  { header: "STATE", value: ({ state }) => state },
  { header: "CREATED", value: ({ createdAtMs }) => new Date(createdAtMs) },
  { header: "RETIRED", value: ({ retiredAtMs }) => dateOf(retiredAtMs) },
  { header: "VERIFIES UNTIL", value: ({ verifiesUntilMs }) => dateOf(verifiesUntilMs) },
];

export async function list({ domain, output }: Call): Promise<void> {
  const keys: TokenKey[] = [
    ...domain.access.keys.list().map((key) => ({ ...key, signs: "access_tokens" as const })),
    ...(domain.inference.signingKeys?.list() ?? []).map((key) => ({
      ...key,
      signs: "inference_tokens" as const,
    })),
  ];
  output.list(keys, { columns: COLUMNS, json: signingKeyDocument, empty: "no signing keys" });
}

export async function rotate({ domain, actor, context, command, output, has }: Call): Promise<void> {
  const signs = has("inference") ? "inference_tokens" : "access_tokens";
  const ring = has("inference") ? domain.inference.signingKeys : domain.access.keys;
  if (!ring) throw gatewayOff();
  const action = `create a new key for ${signs.replace("_", " ")} and retire the current one`;
  const details = ["Existing tokens stay valid until they expire; no login ends."];
  if (!(await isConfirmed(context, command, { action, details }))) return;
  const key = await ring.rotate(actor);
  output.result(
    signingKeyDocument({ ...key, signs }),
    `new ${signs.replace("_", " ")} are signed with ${key.kid}`,
  );
}
