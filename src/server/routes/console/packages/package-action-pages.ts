// One package in the console, and the forms that change it in the draft of the reader.

import { readHarnessKey } from "../../../../domain/governance/service.ts";
import { DomainError } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import type { Console, Done } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import type { Fields } from "../../../console/frame/kept-fields.tsx";
import { lengthProblem, withoutReturns } from "../../../console/long-form.ts";
import { packagePage } from "../../../console/packages/package-page.tsx";
import { removalPage } from "../../../console/packages/removal-page.tsx";
import { CATALOG_PATH, PACKAGES_PATH, packagePath } from "../../../console/packages/words.ts";
import { statedIn, versionText } from "../../../console/parts/stated-version.ts";
import { REVIEW_PATH } from "../../../console/policy/words.ts";
import type { Reader } from "../../../console/reader.ts";
import {
  FormField,
  formOf,
  formOperation,
  formRoute,
  pageRoute,
  seeOther,
  uploadRoute,
} from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { type RefusedUse, readPackage, refusalIn } from "./package-detail.ts";

const REMOVED = formOf({ csrf: FormField, by: FormField, version: FormField });
const SAVED: Done = { to: REVIEW_PATH, notice: "The draft is saved. Nothing is published yet." };
const ACTION = { needs: "administrator" } as const;

export function packageActionPages({ router, domain }: RouteContext, console: Console) {
  const { drafts } = domain.governance;
  const pageOf = pageReader(domain);
  const saving = savingOn(pageOf);

  return router
    .get(
      `${PACKAGES_PATH}/:id`,
      ({ request, params: { id } }) =>
        console.show(request, "administrator", async (reader) => {
          const shown = await readPackage(domain, reader, { id });
          if (shown) return packagePage(shown);
          if (domain.catalog.find(reader.organizationId, id)) return seeOther(`${CATALOG_PATH}/${id}`);
          throw noSuchPackage(id);
        }),
      pageRoute("showPackage", "One package of the policy"),
    )
    .post(
      `${PACKAGES_PATH}/:id`,
      ({ request, params: { id } }) =>
        console.actLong(request, { ...ACTION, back: packagePath(id) }, async (reader, fields) => {
          if (fields.act === "use") return await saveUse(domain, reader, { id, fields, pageOf });
          return await saving(reader, id, async () => {
            const offered = domain.catalog.get(reader.organizationId, id);
            if (offered.sha256 !== fields.sha256) throw catalogChanged();
            await drafts.takePackage(reader.actor, statedIn(fields.version), offered);
          });
        }),
      uploadRoute(
        formOperation(
          "sendPackage",
          "Saves the use of a package by a harness in the draft, or takes the version of the catalog",
        ),
      ),
    );
}

/** @returns the confirmation of removing a package, and its form */
export function packageRemovalPages({ router, domain }: RouteContext, console: Console) {
  const { clients, governance } = domain;
  const { drafts } = governance;
  const saving = savingOn(pageReader(domain));
  return router
    .get(
      `${PACKAGES_PATH}/:id/remove`,
      ({ request, params: { id } }) =>
        console.show(request, "administrator", async ({ organizationId, actor }) => {
          const managed = drafts.ownOrNew(actor).document.packages.find((one) => one.id === id);
          if (!managed) throw noSuchPackage(id);
          const current = governance.revisions.inForce(organizationId);
          const counts = await runInTurns(clients.packageReports.counts(current));
          return removalPage({
            id,
            version: versionText(drafts.ownOrNew(actor)),
            workstations: counts.get(id)?.reported ?? 0,
          });
        }),
      pageRoute("showPackageRemoval", "Asks before a package is removed in the draft"),
    )
    .post(
      `${PACKAGES_PATH}/:id/remove`,
      ({ request, params: { id }, body }) =>
        console.act(request, body, { ...ACTION, back: packagePath(id) }, (reader) =>
          saving(reader, id, () => drafts.removePackage(reader.actor, statedIn(body.version), id)),
        ),
      formRoute(REMOVED, formOperation("sendPackageRemoval", "Removes a package in the draft")),
    );
}

/** @returns a function that saves to the draft; the page of the package shows a refusal */
const savingOn =
  (pageOf: PageOf) =>
  async (reader: Reader, id: string, save: () => Promise<unknown>): Promise<ConsolePage | Done> => {
    try {
      await save();
      return SAVED;
    } catch (error) {
      return await pageOf(reader, id, refusalIn(error));
    }
  };

type PageOf = ReturnType<typeof pageReader>;

/** @returns a function that creates the page of a package with the refused values */
const pageReader =
  (domain: RouteContext["domain"]) =>
  async (reader: Reader, id: string, refused: RefusedUse): Promise<ConsolePage> => {
    const shown = await readPackage(domain, reader, { id, refused });
    if (!shown) throw noSuchPackage(id);
    return packagePage(shown);
  };

/** Saves how a harness uses a package; the entered values stay if they cannot be saved. */
async function saveUse(
  { governance: { drafts } }: RouteContext["domain"],
  reader: Reader,
  { id, fields, pageOf }: { id: string; fields: Fields; pageOf: PageOf },
): Promise<ConsolePage | Done> {
  const harness = readHarnessKey(fields.harness ?? "");
  const text = withoutReturns(fields.settings ?? "");
  const isEnabled = fields.enabled === "yes";
  const entered = { harness, isEnabled, settings: text, isOpen: true };
  const tooLong = lengthProblem(text);
  if (tooLong !== undefined) return await pageOf(reader, id, { error: tooLong, entered });
  const { settings, problems } = await drafts.readSettings(text);
  if (problems.length > 0) {
    const error = "The settings cannot be read, so nothing was saved.";
    return await pageOf(reader, id, { error, entered, problems: problems.map(withoutPlace) });
  }
  try {
    await drafts.use(reader.actor, statedIn(fields.version), id, {
      harness,
      isEnabled,
      settings,
    });
    return SAVED;
  } catch (error) {
    return await pageOf(reader, id, { ...refusalIn(error), entered });
  }
}

/** The form has a single text, so a line number is enough. */
const withoutPlace = <Placed extends object>(problem: Placed) => ({ ...problem, pointer: "" });

const noSuchPackage = (id: string): DomainError =>
  new DomainError("not_found", "package.not_found", `neither the policy nor the catalog has a package ${id}`);

export const catalogChanged = (): DomainError =>
  new DomainError(
    "conflict",
    "package.catalog_changed",
    "the catalog has changed; check its current version",
  );
