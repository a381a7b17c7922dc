// The catalog in the console: the list, one package, and the form that adds it to the draft of the reader.

import type { ManagedPackage } from "../../../../domain/catalog/service.ts";
import { DomainError } from "../../../../platform/errors.ts";
import type { Console, Done } from "../../../console/console.ts";
import { csvRoute } from "../../../console/list/csv.ts";
import { lastPageAddress } from "../../../console/list/list.ts";
import { CATALOG_CSV_COLUMNS, catalogListPage } from "../../../console/packages/catalog-list.tsx";
import { type CatalogPageProps, catalogPage } from "../../../console/packages/catalog-page.tsx";
import { CONTENTS } from "../../../console/packages/package-archive.tsx";
import { CATALOG_PATH, catalogPath } from "../../../console/packages/words.ts";
import { statedIn, versionText } from "../../../console/parts/stated-version.ts";
import { REVIEW_PATH } from "../../../console/policy/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute, seeOther } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { exportResponse } from "../lists/list-export.ts";
import { catalogChanged } from "./package-action-pages.ts";
import { refusalIn } from "./package-detail.ts";
import { offersFor, readCatalog, readWholeCatalog } from "./package-reading.ts";

const TAKEN = formOf({
  csrf: FormField,
  by: FormField,
  act: FormField,
  version: FormField,
  sha256: FormField,
});
const ACTION = { needs: "administrator" } as const;

export function catalogPages({ router, domain }: RouteContext, console: Console) {
  return router
    .get(
      CATALOG_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const { rows, problems } = await readCatalog(domain, reader);
          const last = rows && lastPageAddress(reader, rows);
          if (last !== undefined) return seeOther(last);
          return catalogListPage({ page: rows, problems });
        }),
      pageRoute("showCatalog", "Packages of the catalog as a list"),
    )
    .get(
      `${CATALOG_PATH}.csv`,
      ({ request }) =>
        console.show(request, "administrator", async (reader) =>
          exportResponse(domain, reader, {
            list: "catalog",
            columns: CATALOG_CSV_COLUMNS,
            pages: [await readWholeCatalog(domain, reader)],
          }),
        ),
      csvRoute("downloadCatalog", "Packages of the catalog as a CSV file"),
    );
}

export function catalogEntryPages({ router, domain }: RouteContext, console: Console) {
  const { catalog, governance } = domain;
  return router
    .get(
      `${CATALOG_PATH}/:id`,
      ({ request, params: { id } }) =>
        console.show(request, "administrator", async (reader) =>
          catalogPage(await readEntry(domain, reader, id)),
        ),
      pageRoute("showCatalogPackage", "One package of the catalog"),
    )
    .post(
      `${CATALOG_PATH}/:id`,
      ({ request, params: { id }, body }) =>
        console.act(request, body, { ...ACTION, back: catalogPath(id) }, async (reader) => {
          const offered = catalog.get(reader.organizationId, id);
          if (body.act === "check") return await check(domain, offered);
          try {
            if (offered.sha256 !== body.sha256) throw catalogChanged();
            await governance.drafts.takePackage(reader.actor, statedIn(body.version), offered);
            return { to: REVIEW_PATH, notice: "The draft is saved. Nothing is published yet." };
          } catch (error) {
            return catalogPage({ ...(await readEntry(domain, reader, id)), ...refusalIn(error) });
          }
        }),
      formRoute(
        TAKEN,
        formOperation(
          "sendCatalogPackage",
          "Adds a package of the catalog to the draft, or checks its archive",
        ),
      ),
    );
}

const CHECK_WORDS = {
  intact: "The archive is intact: its bytes have the digest.",
  damaged: "The archive is damaged: its bytes have another digest. Import or seed it again.",
  missing: "The bytes of the archive are missing. Import or seed it again.",
} as const;

/** Reads the archive again, and compares its digest. */
async function check({ catalog }: RouteContext["domain"], { id, sha256 }: ManagedPackage): Promise<Done> {
  const result = await catalog.check(sha256);
  const kind = result === "intact" ? "done" : "attention";
  return { to: catalogPath(id), notice: { kind, text: CHECK_WORDS[result] } };
}

async function readEntry(
  domain: RouteContext["domain"],
  reader: Reader,
  id: string,
): Promise<CatalogPageProps> {
  const { catalog, governance } = domain;
  const { actor, organizationId, request, url } = reader;
  const managed = catalog.get(organizationId, id);
  const view = (await offersFor(domain, reader)).find((one) => one.id === id);
  if (!view) throw gone(id);
  const archive = catalog.findArtifact(organizationId, managed.sha256);
  const wantsContents = archive !== undefined && url.searchParams.get(CONTENTS.name) === CONTENTS.value;
  return {
    managed,
    view,
    archive,
    version: versionText(governance.drafts.ownOrNew(actor)),
    contents: wantsContents ? await catalog.contents(archive.sha256, { signal: request.signal }) : undefined,
  };
}

/** The catalog was changed while it was read. */
const gone = (id: string): DomainError =>
  new DomainError("not_found", "catalog.not_found", `the catalog has no package ${id}`);
