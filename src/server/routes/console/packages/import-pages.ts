// The import of a bundle in the console: the bundle is uploaded and stored, its plan is shown, and then the catalog
// changes.
import { BUNDLE_UPLOAD_BYTES_MAX } from "../../../../domain/catalog/bundles/pending-bundles.ts";
import type { ImportPlan, ImportRequest } from "../../../../domain/catalog/service.ts";
import { readTrustedKeys } from "../../../../platform/crypto/file-signatures.ts";
import { DomainError } from "../../../../platform/errors.ts";
import type { Console, Done } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import type { Fields } from "../../../console/frame/kept-fields.tsx";
import { withoutReturns } from "../../../console/long-form.ts";
import {
  importPage,
  type PendingImport,
  planPage,
  type RefusedImport,
} from "../../../console/packages/import-page.tsx";
import { CATALOG_PATH, IMPORT_PATH, PLAN_PATH } from "../../../console/packages/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { failureOf } from "../../../http/problems/problem.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute, uploadRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";

type Domain = RouteContext["domain"];

const PLAN = formOf({
  csrf: FormField,
  by: FormField,
  act: FormField,
  bundle: FormField,
  name: FormField,
  trust: FormField,
  keep: FormField,
});
const ACTION = { needs: "administrator", back: IMPORT_PATH } as const;

export function importPages({ router, domain, uploadTimes }: RouteContext, console: Console) {
  return router
    .get(
      IMPORT_PATH,
      ({ request }) => console.show(request, "administrator", () => importPage({})),
      pageRoute("showCatalogImport", "The form that uploads a bundle"),
    )
    .post(
      IMPORT_PATH,
      ({ request }) =>
        console.actFile(
          request,
          {
            ...ACTION,
            bytesMax: BUNDLE_UPLOAD_BYTES_MAX,
            times: uploadTimes,
            tooLarge: () => importPage({ refused: TOO_LARGE }),
          },
          async (_, { fields, file }) => {
            const { trust = "", keep } = fields;
            if (!file || file.name === "") return importPage({ trust, refused: NO_FILE });
            const bundle = await domain.pendingBundles.keep(file.bytes);
            return {
              to: planAddress({
                bundle,
                name: file.name,
                trust: withoutReturns(trust),
                keep: keep !== undefined,
              }),
            };
          },
        ),
      uploadRoute(formOperation("sendCatalogImport", "Uploads a bundle, and changes nothing")),
    )
    .get(
      PLAN_PATH,
      ({ request }) =>
        console.show(request, "administrator", (reader) =>
          planned(domain, reader, keptIn(Object.fromEntries(reader.url.searchParams))),
        ),
      pageRoute("showCatalogImportPlan", "The plan of an uploaded bundle"),
    )
    .post(
      PLAN_PATH,
      ({ request, body }) =>
        console.act(request, body, ACTION, (reader) =>
          body.act === "import" ? importKept(domain, reader, keptIn(body)) : drop(domain, keptIn(body)),
        ),
      formRoute(PLAN, formOperation("sendCatalogImportPlan", "Imports an uploaded bundle, or discards it")),
    );
}

const NO_FILE: RefusedImport = { error: "choose a bundle first", problems: [], status: 400 };
const SIZE_UNIT = 1024 ** 3;
const TOO_LARGE: RefusedImport = {
  error: `the bundle has more than ${BUNDLE_UPLOAD_BYTES_MAX / SIZE_UNIT} GiB; import it with \`quartermaster catalog import\``,
  problems: [],
  status: 413,
};

const planAddress = ({ bundle, name, trust, keep }: PendingImport): string =>
  `${PLAN_PATH}?${new URLSearchParams({ bundle, name, ...(keep && { keep: "yes" }), trust })}`;

const keptIn = ({ bundle = "", name = "", trust = "", keep }: Fields): PendingImport => ({
  bundle,
  name,
  trust: withoutReturns(trust),
  keep: keep !== undefined,
});

/** @throws DomainError for keys or a bundle that cannot be read */
async function requestFor(
  { pendingBundles, governance }: Domain,
  { organizationId }: Pick<Reader, "organizationId">,
  { bundle, name, trust, keep }: PendingImport,
): Promise<ImportRequest> {
  return {
    file: await pendingBundles.file(bundle, name),
    trusted: { name: "the keys that you entered", keys: readTrustedKeys(trust, "the text") },
    keep,
    inUse: (connection) => governance.revisions.packagesInUse(connection, organizationId),
    allowDangling: false,
  };
}

async function planned(domain: Domain, reader: Reader, kept: PendingImport): Promise<ConsolePage> {
  let plan: ImportPlan | undefined;
  try {
    const { signal } = reader.request;
    plan = await domain.catalog.bundles.plan(reader.actor, {
      ...(await requestFor(domain, reader, kept)),
      signal,
    });
  } catch (error) {
    return planPage({ kept, plan, refused: refusedImport(error) });
  }
  return planPage({ kept, plan });
}

async function importKept(domain: Domain, reader: Reader, kept: PendingImport): Promise<ConsolePage | Done> {
  try {
    const done = await domain.catalog.bundles.import(reader.actor, await requestFor(domain, reader, kept));
    await domain.pendingBundles.drop(kept.bundle);
    const { added, changed, removed } = done;
    const text = `The bundle is imported: ${added.length} added, ${changed.length} changed, ${removed.length} removed.`;
    return { to: CATALOG_PATH, notice: text };
  } catch (error) {
    return planPage({ kept, plan: undefined, refused: refusedImport(error) });
  }
}

async function drop({ pendingBundles }: Domain, { bundle }: PendingImport): Promise<Done> {
  await pendingBundles.drop(bundle);
  return { to: CATALOG_PATH, notice: "The bundle is discarded. Nothing was changed." };
}

/** @returns why the bundle is refused @throws errors that the reader cannot fix on the page */
function refusedImport(error: unknown): RefusedImport {
  if (!(error instanceof DomainError) || !["invalid", "unverified", "conflict"].includes(error.kind))
    throw error;
  const { message, hint, problems } = error;
  const status = failureOf(error)?.status ?? 400;
  return { error: hint === undefined ? message : `${message}; ${hint}`, problems, status };
}
