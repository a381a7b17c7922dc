// `backup verify`: reads a whole backup file without touching the live data.
import { resolve } from "node:path";
import { verifyBackup } from "../../../src/app/backup/verify.ts";
import type { SettingsCall } from "../../data-directory/in-domain.ts";
import { watchTask } from "./progress.ts";
import { contentsText, manifestDocument } from "./view.ts";

/** @throws DomainError `backup.*`, `schema.*`, `file.*`, `storage.*` */
export async function verify({ context, output, args: [file = ""] }: SettingsCall): Promise<void> {
  const path = resolve(context.cwd, file);
  using watch = watchTask(context, "reading the backup");
  const { manifest, ...database } = await verifyBackup(path, { ...watch, clock: context.clock });
  if (!manifest) {
    const { schema, rows } = database;
    output.result({ path, intact: true, schema, rows }, `intact: a database of schema ${schema}`);
    return;
  }
  const text = `intact: made ${manifest.created_at} by version ${manifest.version}, ${contentsText(manifest)}`;
  output.result({ path, intact: true, ...manifestDocument(manifest) }, text);
}
