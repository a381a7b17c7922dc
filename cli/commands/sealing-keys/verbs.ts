// `sealing-keys list` and `sealing-keys rotate`. They never print the bytes of a key, which are in its file.
import { basename } from "node:path";
import { sealingKeyDocument } from "../../../src/domain/system/key-document.ts";
import type { SealingKeyState } from "../../../src/domain/system/sealing-keys.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isServiceRunning } from "../../data-directory/service-state.ts";
import { isConfirmed } from "../../input/prompt.ts";
import type { Column } from "../../output/table.ts";

const COLUMNS: readonly Column<SealingKeyState>[] = [
  { header: "ID", value: ({ id }) => id },
  { header: "STATE", value: ({ state }) => state },
  { header: "SOURCE", value: ({ path, source }) => (path === null ? source : basename(path)) },
  { header: "SECRETS", value: ({ total }) => total },
  { header: "OF THEM", value: ({ secrets }) => amountsText(secrets), isWide: true },
  { header: "PATH", value: ({ path }) => path, isWide: true },
];

export async function list({ domain, output }: Call): Promise<void> {
  const keys = domain.sealingKeys.list();
  output.list(keys, { columns: COLUMNS, json: sealingKeyDocument, empty: "no sealing keys" });
  for (const { id, state, path, total } of keys) {
    if (state === "missing") output.warning(`${id} is missing: ${MISSING}`);
    if (state === "old" && total === 0)
      output.note(
        `no secret uses ${id}: remove ${path} when you no longer need older copies of the database`,
      );
  }
}

export async function rotate(call: Call): Promise<void> {
  const { domain, actor, context, command, output } = call;
  const path = domain.sealingKeys.checkRotate();
  const plan = { action: `create a new sealing key, ${path}`, details: DETAILS };
  if (!(await isConfirmed(context, command, plan))) return;
  const key = await domain.sealingKeys.rotate(actor);
  output.result(sealingKeyDocument(key), `new secrets are sealed with ${key.id}, ${key.path}`);
  if (!isServiceRunning(call)) output.warning(NO_SERVICE);
}

const MISSING =
  "secrets sealed with it cannot be read; restore its file, or pass the configuration file of the service with --config";
const DETAILS = [
  "The service reseals secrets that use older keys in the background.",
  "Keep the older key files: existing copies of the database need them.",
  "Keep a copy of the new file apart from the database: without it, sealed secrets cannot be read.",
];
const NO_SERVICE =
  "no service runs on this data directory; secrets that use older keys are resealed when a service runs";

const amountsText = (secrets: SealingKeyState["secrets"]): string =>
  Object.entries(secrets)
    .filter(([, amount]) => amount > 0)
    .map(([noun, amount]) => `${amount} ${noun}`)
    .join(", ");
