// `backup verify`: reads a file in full, beside the live data.
import { resolve } from "node:path";
import { checkBackup } from "../../src/backup/check.ts";
import type { SettingsCall } from "../in-domain.ts";
import { contentsText, manifestDocument } from "./view.ts";
import { watchTask } from "./watch.ts";

/** @throws DomainError `backup.*`, `schema.*`, `file.*`, `storage.*` */
export async function verify({ context, output, args: [file = ""] }: SettingsCall): Promise<void> {
  const path = resolve(context.cwd, file);
  using watch = watchTask(context, "reading the backup");
  const { manifest, ...database } = await checkBackup(path, { ...watch, clock: context.clock });
  if (!manifest) {
    const { schema, rows } = database;
    output.result({ path, intact: true, schema, rows }, `intact: a database of schema ${schema}`);
    return;
  }
  const text = `intact: made ${manifest.created_at} by version ${manifest.version}, ${contentsText(manifest)}`;
  output.result({ path, intact: true, ...manifestDocument(manifest) }, text);
}
