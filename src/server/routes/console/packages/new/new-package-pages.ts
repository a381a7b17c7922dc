// The first step of adding a package in the console. The server stores the entered values of each step and finally puts
// them into the draft of the reader. step-pages.ts has the other steps.
import { ARCHIVE_LIMITS } from "../../../../../domain/catalog/archive/limits.ts";
import type { InspectedSource } from "../../../../../domain/catalog/sources/package-sources.ts";
import { DomainError } from "../../../../../platform/errors.ts";
import type { Console, Done } from "../../../../console/console.ts";
import type { ConsolePage } from "../../../../console/frame/frame.tsx";
import type { Fields } from "../../../../console/frame/kept-fields.tsx";
import { sourcePage } from "../../../../console/packages/new/source-page.tsx";
import { nextStep, type RefusedStep, refusedStep } from "../../../../console/packages/new/steps.tsx";
import { NEW_PACKAGE_PATH, STEPS, UPLOAD_PATH } from "../../../../console/packages/new/words.ts";
import { PACKAGES_PATH } from "../../../../console/packages/words.ts";
import type { Reader } from "../../../../console/reader.ts";
import {
  FormField,
  formOf,
  formOperation,
  formRoute,
  pageRoute,
  seeOther,
  uploadRoute,
} from "../../../../pages/html.ts";
import type { RouteContext } from "../../../../router.ts";
import { checkPages, stepPages } from "./step-pages.ts";

const SOURCE = formOf({
  csrf: FormField,
  by: FormField,
  act: FormField,
  source_ref: FormField,
  connection_id: FormField,
  repository: FormField,
  ref: FormField,
  path: FormField,
});
const ACTION = { needs: "administrator", back: NEW_PACKAGE_PATH } as const;

export function newPackagePages(context: RouteContext, console: Console): void {
  sourcePages(context, console);
  stepPages(context, console);
  checkPages(context, console);
}

function sourcePages({ router, domain, uploadTimes }: RouteContext, console: Console) {
  const pageFor = sourcePageOf(domain);
  const { packageAdditions } = domain;

  return router
    .get(
      NEW_PACKAGE_PATH,
      ({ request }) => console.show(request, "administrator", (reader) => pageFor(reader)),
      pageRoute("showNewPackage", "Source of the archive of a new package"),
    )
    .post(
      NEW_PACKAGE_PATH,
      ({ request, body }) =>
        console.act(request, body, ACTION, async (reader) => {
          if (body.act === "stop") return await stop(domain, reader);
          return await taking(domain, reader, { fields: body, pageFor }, () =>
            domain.packageSources.inspect(reader.actor, requestIn(body), { signal: request.signal }),
          );
        }),
      formRoute(
        SOURCE,
        formOperation("sendNewPackage", "Fetches the archive of a new package, or stops adding it"),
      ),
    )
    .post(
      UPLOAD_PATH,
      ({ request }) =>
        console.actFile(
          request,
          {
            ...ACTION,
            bytesMax: ARCHIVE_LIMITS.compressedBytesMax,
            times: uploadTimes,
            tooLarge: (reader) => pageFor(reader, { refused: TOO_LARGE }),
          },
          async (reader, { file }) => {
            if (!file || file.name === "") return pageFor(reader, { refused: NO_FILE });
            return await taking(domain, reader, { fields: {}, pageFor }, () =>
              domain.packageSources.upload(reader.actor, file),
            );
          },
        ),
      uploadRoute(formOperation("sendNewPackageArchive", "Uploads the archive of a new package")),
    )
    .get(
      UPLOAD_PATH,
      ({ request }) =>
        console.show(request, "administrator", ({ actor }) =>
          seeOther(STEPS[nextStep(packageAdditions.find(actor))].path),
        ),
      pageRoute("showNewPackageArchive", "Redirects to the next step"),
    );
}

const NO_FILE: RefusedStep = {
  message: "Choose an archive first.",
  problems: [{ pointer: "/file", detail: "no file was chosen" }],
};
const MEBIBYTE = 1024 ** 2;
const TOO_LARGE: RefusedStep = {
  message: "Nothing was stored.",
  status: 413,
  problems: [
    {
      pointer: "/file",
      detail: `the archive has more than ${ARCHIVE_LIMITS.compressedBytesMax / MEBIBYTE} MiB; leave out what the package does not need, or split it into several packages`,
    },
  ],
};

type PageFor = ReturnType<typeof sourcePageOf>;

const sourcePageOf =
  ({ packageAdditions, packageSources }: RouteContext["domain"]) =>
  (reader: Reader, more: { fields?: Fields; refused?: RefusedStep } = {}): ConsolePage =>
    sourcePage({
      addition: packageAdditions.find(reader.actor),
      isPublic: packageSources.isPublic(),
      connections: packageSources.connections(reader.organizationId),
      ...more,
    });

/** Stores an archive and continues. Problems appear on the page of the step, and the finished steps are kept. */
async function taking(
  { packageAdditions }: RouteContext["domain"],
  reader: Reader,
  { fields, pageFor }: { fields: Fields; pageFor: PageFor },
  take: () => Promise<InspectedSource>,
): Promise<ConsolePage | Done> {
  try {
    const { sourceRef, commit, artifactId, sha256 } = await take();
    const source = { sourceRef, ...(commit !== undefined && { commit }), artifactId, sha256 };
    await packageAdditions.start(reader.actor, source);
    return { to: STEPS.inspection.path };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    // The length of a form determines the length of its file only approximately.
    const isTooLarge = error.reason === "artifact.too_large";
    return pageFor(reader, { fields, refused: isTooLarge ? TOO_LARGE : refusedStep(error) });
  }
}

/** Repositories take precedence, as in the API. */
const requestIn = ({ source_ref, connection_id, repository, ref, path }: Fields) => ({
  ...(source_ref !== undefined && { source_ref }),
  ...(connection_id !== undefined && {
    connection_id,
    repository: repository?.trim() ?? "",
    ref: ref?.trim() ?? "",
    path: path?.trim() ?? "",
  }),
});

async function stop({ packageAdditions }: RouteContext["domain"], { actor }: Reader): Promise<Done> {
  if (packageAdditions.find(actor)) await packageAdditions.drop(actor);
  return { to: PACKAGES_PATH, notice: "The package is not added." };
}
