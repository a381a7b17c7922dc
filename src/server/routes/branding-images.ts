// The uploaded logo and icon: administrators replace them, and everybody may read them, because the sign-in page shows them.
import { Type } from "@sinclair/typebox";
import {
  IMAGE_BYTES_MAX,
  type ImageKind,
  imageAddress,
  imagePath,
} from "../../domain/system/branding-image.ts";
import { BrandingSchema, toBranding } from "../../domain/system/model.ts";
import { readBytes } from "../http/bodies/body-text.ts";
import {
  expectationOf,
  IF_MATCH,
  IF_NONE_MATCH,
  type PreparedResponse,
  prepareResponse,
  recordTag,
  respondConditionally,
} from "../http/conditional.ts";
import { actorOf } from "../http/exchange.ts";
import { withHeaders } from "../http/header-parameters.ts";
import { HttpError } from "../http/problems/problem.ts";
import { json } from "../http/responses.ts";
import { operation } from "../openapi.ts";
import type { RouteContext } from "../router.ts";

/** An image must not run or load anything, even if it is opened as a document. */
const IMAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'";
const reading = (operationId: string, kind: ImageKind) =>
  withHeaders(
    operation(operationId, `The uploaded ${kind} of the organization`, {
      tags: ["System"],
      answers: {
        200: { description: "A PNG or SVG image", schema: Type.String(), mediaType: "image/*" },
        404: { description: `No ${kind} was uploaded` },
      },
    }),
    IF_NONE_MATCH,
  );

/** If-Match has the entity tag of the branding, not of the image: the branding names both images. */
const replacing = (operationId: string, kind: ImageKind) =>
  withHeaders(
    operation(operationId, `Upload the ${kind}, a PNG or SVG image`, {
      tags: ["Administration"],
      answers: {
        200: { description: `Saved branding, with the address of the ${kind}`, schema: BrandingSchema },
        400: {
          description:
            "The bytes are no PNG or SVG image, or the image has active content or too many pixels",
        },
        413: { description: `The image has more than ${IMAGE_BYTES_MAX} bytes` },
      },
    }),
    IF_MATCH,
  );

const described = {
  readLogo: reading("getBrandingLogo", "logo"),
  readIcon: reading("getBrandingIcon", "icon"),
  replaceLogo: replacing("updateBrandingLogo", "logo"),
  replaceIcon: replacing("updateBrandingIcon", "icon"),
};

export function brandingImageRoutes({ router, domain: { branding }, baseUrl }: RouteContext) {
  const readers = { logo: createReader(branding, "logo"), icon: createReader(branding, "icon") };

  const replace = async (request: Request, kind: ImageKind): Promise<Response> => {
    const bytes = await readBytes(request, IMAGE_BYTES_MAX);
    const address = imageAddress(baseUrl(), kind, bytes);
    const image = { kind, bytes, address, expect: expectationOf(request, toBranding) };
    const saved = toBranding(await branding.uploadImage(actorOf(request), image));
    return json(saved, { headers: { etag: recordTag(saved) } });
  };

  return router
    .get(imagePath("logo"), ({ request }) => respondConditionally(request, readers.logo()), {
      requires: "nobody",
      detail: described.readLogo,
    })
    .get(imagePath("icon"), ({ request }) => respondConditionally(request, readers.icon()), {
      requires: "nobody",
      detail: described.readIcon,
    })
    .put("/admin/branding/logo", ({ request }) => replace(request, "logo"), {
      requires: "administrator",
      accepts: "bytes",
      detail: described.replaceLogo,
    })
    .put("/admin/branding/icon", ({ request }) => replace(request, "icon"), {
      requires: "administrator",
      accepts: "bytes",
      detail: described.replaceIcon,
    });
}

/** @returns a function that returns the response with the image, prepared once per change; it throws HttpError 404 if there is none */
function createReader(branding: RouteContext["domain"]["branding"], kind: ImageKind): () => PreparedResponse {
  let prepared: { revision: number; response: PreparedResponse | undefined } | undefined;
  return () => {
    const revision = branding.revision();
    if (prepared?.revision !== revision)
      prepared = { revision, response: prepare(branding.currentImage(kind)) };
    if (!prepared.response) throw new HttpError(404, `branding.no_${kind}`, `no ${kind} was uploaded`);
    return prepared.response;
  };
}

const prepare = (
  image: ReturnType<RouteContext["domain"]["branding"]["currentImage"]>,
): PreparedResponse | undefined =>
  image &&
  prepareResponse(image.bytes, {
    contentType: image.mediaType,
    cacheControl: "public, no-cache",
    others: { "content-security-policy": IMAGE_POLICY, "cross-origin-resource-policy": "same-site" },
  });
