// `harnesses list`, `harnesses check` and `harnesses sign`. They do not open the database, so they work on machines without an
// installation.
import { resolve } from "node:path";
import {
  readBounded,
  readHarnessFacts,
  readSignedHarnesses,
  signaturePath,
} from "../../../src/app/files/harness-facts-file.ts";
import { extendHarnesses } from "../../../src/domain/harnesses/harness-extension.ts";
import type { HarnessSource } from "../../../src/domain/harnesses/harness-facts.ts";
import { HARNESS_FILE_BYTES_MAX, readHarnessFile } from "../../../src/domain/harnesses/harness-file.ts";
import { HARNESSES, type Harness, type HarnessGeneration } from "../../../src/domain/harnesses/harnesses.ts";
import { replaceFile } from "../../../src/platform/files/operator-files.ts";
import type { SettingsCall } from "../../data-directory/in-domain.ts";
import { withFileContext } from "../../exit.ts";
import { printable } from "../../output/printable.ts";
import type { Column } from "../../output/table.ts";
import { signerFor } from "../catalog/signer.ts";

interface Row extends HarnessGeneration {
  key: string;
  origin: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { header: "HARNESS", value: ({ key }) => key },
  { header: "GENERATION", value: ({ profile }) => profile },
  { header: "INTRODUCED", value: ({ introduced }) => introduced },
  { header: "BEFORE", value: ({ before }) => before ?? "" },
  { header: "VERIFIED BEFORE", value: ({ verifiedBefore }) => verifiedBefore },
  { header: "FROM", value: ({ origin }) => origin },
];

/** @throws DomainError like readHarnessFacts */
export async function list({ config, output }: SettingsCall): Promise<void> {
  const facts = await withFileContext(config.get("harnesses.file"), async () => readHarnessFacts(config));
  const rows = extendHarnesses(facts.extension).flatMap((harness) => rowsOf(harness, facts.source));
  output.list(
    rows,
    { columns: COLUMNS, json: rowDocument, empty: "no harnesses" },
    { source: facts.source ?? null },
  );
}

/** A ceiling that is both in the program and in the file is attributed to the program. */
function rowsOf({ key, generations }: Harness, source: HarnessSource | undefined): Row[] {
  const own = HARNESSES.find((harness) => harness.key === key)?.generations ?? [];
  return generations.map((generation) => {
    const { profile, verifiedBefore } = generation;
    const isOwn = own.some((one) => one.profile === profile && one.verifiedBefore === verifiedBefore);
    return { ...generation, key, origin: isOwn || !source ? "program" : source.file };
  });
}

const rowDocument = ({ key, profile, introduced, before, verifiedBefore, origin }: Row) => ({
  harness: key,
  profile,
  introduced,
  before,
  verified_before: verifiedBefore,
  from: origin,
});

/** @throws DomainError `harnesses.*`, `file.*`, `signing.not_ed25519` */
export async function check({ context, args, output, text }: SettingsCall): Promise<void> {
  const [file = ""] = args;
  const path = resolve(context.cwd, file);
  const trust = text("trust");
  const { extension, source } = await withFileContext(path, async () =>
    trust === undefined
      ? { extension: readHarnessFile(readBounded(path, HARNESS_FILE_BYTES_MAX), path), source: undefined }
      : readSignedHarnesses(path, resolve(context.cwd, trust)),
  );
  const signed = source ? `signed by ${source.signer}` : "its signature was not checked: pass --trust FILE";
  const document = {
    valid: true,
    file: path,
    harnesses: Object.keys(extension),
    signer: source?.signer ?? null,
  };
  output.result(document, `${printable(path)} is valid; ${signed}`);
}

/** @throws DomainError `harnesses.invalid`, `bundle.no_key`, `file.*`, `signing.not_ed25519` */
export async function sign(call: SettingsCall): Promise<void> {
  const { context, args, output } = call;
  const [file = ""] = args;
  const path = resolve(context.cwd, file);
  const bytes = readBounded(path, HARNESS_FILE_BYTES_MAX);
  await withFileContext(path, async () => readHarnessFile(bytes, path));
  const signer = signerFor(call);
  const signature = signaturePath(path);
  await replaceFile(signature, once(signer.sign(bytes)));
  const document = { file: path, signature, signer: signer.keyId };
  output.result(document, `Signed ${printable(path)} as ${printable(signature)}\nsigned by ${signer.keyId}`);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
