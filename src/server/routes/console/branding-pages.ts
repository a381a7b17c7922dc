// The branding of the organization in the console.
import { IMAGE_BYTES_MAX, type ImageKind, imageAddress } from "../../../domain/system/branding-image.ts";
import type { Branding } from "../../../domain/system/model.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Console } from "../../console/console.ts";
import type { ConsolePage } from "../../console/frame/frame.tsx";
import type { Reader } from "../../console/reader.ts";
import { BRANDING_PATH, brandingPage, uploadPath, versionOf } from "../../console/system/branding.tsx";
import { readUpload, type Upload } from "../../http/bodies/upload.ts";
import { HttpError } from "../../http/problems/problem.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute, uploadRoute } from "../../pages/html.ts";
import type { RouteContext } from "../../router.ts";

/** Larger files are not read. Files between IMAGE_BYTES_MAX and this limit get the same error page as other wrong images. */
const BYTES_READ = 4 * IMAGE_BYTES_MAX;
const NEEDED = { needs: "administrator", back: BRANDING_PATH } as const;

export function brandingPages(context: RouteContext, console: Console) {
  const { branding } = context.domain;
  const upload = createUpload(context, console);

  return context.router
    .get(
      BRANDING_PATH,
      ({ request }) =>
        console.show(request, "administrator", ({ organizationId }) =>
          brandingPage({ branding: branding.get(organizationId) }),
        ),
      pageRoute("showBranding", "Logo and icon of the organization"),
    )
    .post(
      BRANDING_PATH,
      ({ request, body }) =>
        console.act(request, body, NEEDED, async (reader) => {
          const entered = { logoUrl: body.logo_url ?? null, faviconUrl: body.favicon_url ?? null };
          const { organizationId } = reader;
          try {
            await branding.update(reader.actor, entered, (before) => assertVersion(before, body.version));
          } catch (error) {
            const current = branding.get(organizationId);
            if (!(error instanceof BrandingChanged))
              return refusedPage(error, { branding: current, entered });
            const change = changeOf(context, reader);
            return brandingPage({ branding: current, entered, change, status: 409 });
          }
          return { to: BRANDING_PATH, notice: "The branding is saved." };
        }),
      formRoute(
        formOf({
          csrf: FormField,
          by: FormField,
          version: FormField,
          logo_url: FormField,
          favicon_url: FormField,
        }),
        formOperation("sendBranding", "Replaces the addresses of logo and icon"),
      ),
    )
    .post(
      uploadPath("logo"),
      ({ request }) => upload(request, "logo"),
      uploadRoute(formOperation("sendBrandingLogo", "Uploads the logo")),
    )
    .post(
      uploadPath("icon"),
      ({ request }) => upload(request, "icon"),
      uploadRoute(formOperation("sendBrandingIcon", "Uploads the icon")),
    );
}

class BrandingChanged extends DomainError {
  constructor() {
    super("conflict", "branding.changed", "the branding was changed after the page was opened");
  }
}

/** @throws BrandingChanged */
function assertVersion(before: Branding, version: string | undefined): void {
  if (versionOf(before) !== version) throw new BrandingChanged();
}

/** @returns the last change of the branding; retention may have removed its entry */
function changeOf({ domain: { auditLog } }: RouteContext, { organizationId, nowMs }: Reader) {
  const { items } = auditLog.listByKey(organizationId, { action: "branding.update", limit: 1 });
  return items[0] ?? { actorLabel: "Somebody", atMs: nowMs };
}

interface Refused {
  kind: ImageKind;
  why: string;
  status?: number;
}

/** @returns a function that handles the form of an image */
function createUpload(context: RouteContext, console: Console) {
  const { branding } = context.domain;
  const refused = (organizationId: string, { kind, why, status = 400 }: Refused): ConsolePage => {
    const problems = [{ pointer: `/${kind}`, detail: why }];
    return brandingPage({ branding: branding.get(organizationId), problems, status });
  };

  return async (request: Request, kind: ImageKind): Promise<Response> => {
    const expired = console.expired(request, NEEDED);
    if (expired) return expired;
    const form = await readOrTooLarge(request);
    if (!form) {
      const why = `the ${kind} has more than ${IMAGE_BYTES_MAX / 1024} KiB`;
      return await console.show(request, "administrator", ({ organizationId }) =>
        refused(organizationId, { kind, why, status: 413 }),
      );
    }
    return await console.act(request, form.fields, NEEDED, async (reader) => {
      const { actor, organizationId } = reader;
      const { file: bytes, fields } = form;
      if (!bytes) return refused(organizationId, { kind, why: "choose an image first" });
      try {
        const address = imageAddress(context.baseUrl(), kind, bytes);
        const expect = (before: Branding) => assertVersion(before, fields.version);
        await branding.uploadImage(actor, { kind, bytes, address, expect });
      } catch (error) {
        if (error instanceof BrandingChanged) {
          const change = changeOf(context, reader);
          return brandingPage({ branding: branding.get(organizationId), kind, change, status: 409 });
        }
        return refusedPage(error, { branding: branding.get(organizationId) });
      }
      return { to: BRANDING_PATH, notice: `The ${kind} is saved.` };
    });
  };
}

/** @returns undefined for a file that is too large to be read */
async function readOrTooLarge(request: Request): Promise<Upload | undefined> {
  try {
    return await readUpload(request, BYTES_READ);
  } catch (error) {
    if (error instanceof HttpError && error.status === 413) return undefined;
    throw error;
  }
}

function refusedPage(error: unknown, shown: Parameters<typeof brandingPage>[0]): ConsolePage {
  if (!(error instanceof DomainError) || error.kind !== "invalid") throw error;
  return brandingPage({ ...shown, problems: error.problems });
}
