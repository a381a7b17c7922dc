// `backup verify`: reads a whole backup file without touching the live data.
import { verifyBackup } from "../../../src/app/backup/verify.ts";
import type { SettingsCall } from "../../data-directory/in-domain.ts";
import { givenFile } from "./given-file.ts";
import { watchTask } from "./progress.ts";
import { contentsText, manifestDocument } from "./view.ts";

/** @throws DomainError `backup.*`, `schema.*`, `file.*`, `storage.*` */
export async function verify(call: SettingsCall): Promise<void> {
  const { context, output, args } = call;
  const path = givenFile(call, args[0] ?? "");
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
