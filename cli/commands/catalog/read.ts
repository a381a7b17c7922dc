// `catalog list`, `show` and `export`: reads the catalog.
import { resolve } from "node:path";
import { CATALOG_FILE_BYTES_MAX } from "../../../src/domain/catalog/model.ts";
import { catalogYaml } from "../../../src/domain/catalog/seed/catalog-export.ts";
import type { ManagedPackage } from "../../../src/domain/catalog/service.ts";
import { countText } from "../../../src/platform/count-text.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { replaceFile } from "../../../src/platform/files/operator-files.ts";
import { yamlText } from "../../../src/platform/text/yaml-write.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import type { Column } from "../../output/table.ts";

const COLUMNS: readonly Column<ManagedPackage>[] = [
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "VERSION", value: ({ version }) => version },
  { header: "HARNESSES", value: ({ adapters }) => Object.keys(adapters).join(",") },
  { header: "SHA256", value: ({ sha256 }) => sha256 },
  { header: "SOURCE", value: ({ source_ref }) => source_ref },
  { header: "NAME", value: ({ name }) => name, isWide: true },
  { header: "ARTIFACT", value: ({ artifact_id }) => artifact_id, isWide: true },
  {
    header: "PLATFORMS",
    value: ({ platform_sources = {} }) => Object.keys(platform_sources).join(","),
    isWide: true,
  },
];

export async function list({ domain, actor, output }: Call): Promise<void> {
  const packages = domain.catalog.list(actor.organizationId);
  output.list(packages, { columns: COLUMNS, json: (managed) => managed, empty: "no packages" });
}

export async function show({ domain, actor, output, args: [id = ""] }: Call): Promise<void> {
  const managed = domain.catalog.get(actor.organizationId, id);
  output.result(managed, yamlText(managed).trimEnd());
}

/** Writes a bundle with `--bundle`, otherwise a file for `catalog seed`. */
export async function exportTo(call: Call): Promise<void> {
  const [file] = call.args;
  const bundle = call.text("bundle");
  if ((file === undefined) === (bundle === undefined)) throw oneTarget();
  if (bundle !== undefined) return await (await import("./bundle.ts")).exportBundle(call, bundle);
  if (file !== undefined) await exportYaml(call, file);
}

const oneTarget = (): DomainError =>
  new DomainError("invalid", "usage.one_target", "name one file: FILE for the list only, or --bundle FILE", {
    hint: "run: quartermaster catalog export --help",
  });

/** `-` is stdout; under `--json` the document is printed there as JSON, which `catalog seed` accepts too. */
async function exportYaml(call: Call, file: string): Promise<void> {
  const { domain, actor, output, context } = call;
  const packages = domain.catalog.list(actor.organizationId);
  const text = catalogYaml(packages);
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes > CATALOG_FILE_BYTES_MAX)
    output.warning(
      `the export has ${sizeBytes} bytes, but \`catalog seed\` reads at most ${CATALOG_FILE_BYTES_MAX}`,
    );
  if (file === "-") return output.result({ package_catalog: { packages } }, text.trimEnd());
  const path = resolve(context.cwd, file);
  await replaceFile(path, text);
  const count = countText(packages.length, "package");
  output.result(
    { file: path, packages: packages.length, size_bytes: sizeBytes },
    `Exported ${count} to ${file}`,
  );
}
