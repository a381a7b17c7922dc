// The uploaded logo: administrators replace it, and everybody may read it, because the sign-in page shows it.
import { Type } from "@sinclair/typebox";
import { LOGO_BYTES_MAX, readLogo } from "../../domain/system/logo.ts";
import { BrandingSchema, toBranding } from "../../domain/system/model.ts";
import { sha256Hex } from "../../platform/ids.ts";
import { json } from "../http/answers.ts";
import { readBytes } from "../http/bodies/body-text.ts";
import {
  answerConditionally,
  IF_NONE_MATCH,
  type PreparedAnswer,
  prepareAnswer,
} from "../http/conditional.ts";
import { actorOf } from "../http/exchange.ts";
import { withHeaders } from "../http/header-parameters.ts";
import { HttpError } from "../http/problems/problem.ts";
import { operation } from "../openapi.ts";
import { createRouter, type RouteContext } from "../router.ts";

export const LOGO_PATH = "/branding/logo";

/** Nothing in an image may run or load something, also where it is opened as a document. */
const LOGO_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'";
/** Of the digest in the address, which makes browsers read a new logo at once. */
const DIGEST_CHARACTERS = 12;

const described = {
  read: withHeaders(
    operation("getBrandingLogo", "The uploaded logo of the organization", {
      tags: ["System"],
      answers: {
        200: { description: "A PNG or SVG image", schema: Type.String(), mediaType: "image/*" },
        404: { description: "No logo was uploaded" },
      },
    }),
    IF_NONE_MATCH,
  ),
  replace: operation("updateBrandingLogo", "Upload the logo, a PNG or SVG image", {
    tags: ["Administration"],
    answers: {
      200: { description: "Saved branding, with the address of the logo", schema: BrandingSchema },
      400: { description: "The bytes are no PNG or SVG image, or the image has active content" },
      413: { description: `The image has more than ${LOGO_BYTES_MAX} bytes` },
    },
  }),
};

/** @returns the operations getBrandingLogo and updateBrandingLogo */
export function brandingLogoRoutes({ guard, domain: { branding }, baseUrl }: RouteContext) {
  let prepared: { revision: number; answer: PreparedAnswer | undefined } | undefined;

  const current = (): PreparedAnswer => {
    const revision = branding.revision();
    if (prepared?.revision !== revision) prepared = { revision, answer: prepare() };
    if (!prepared.answer) throw new HttpError(404, "branding.no_logo", "no logo was uploaded");
    return prepared.answer;
  };

  function prepare(): PreparedAnswer | undefined {
    const logo = branding.currentLogo();
    return (
      logo &&
      prepareAnswer(logo.bytes, {
        contentType: logo.mediaType,
        cacheControl: "public, no-cache",
        others: { "content-security-policy": LOGO_POLICY, "cross-origin-resource-policy": "same-site" },
      })
    );
  }

  return createRouter(guard, "branding-logo")
    .get(LOGO_PATH, ({ request }) => answerConditionally(request, current()), {
      requires: "nobody",
      detail: described.read,
    })
    .put(
      "/admin/branding/logo",
      async ({ request }) => {
        const logo = readLogo(await readBytes(request, LOGO_BYTES_MAX));
        const version = sha256Hex(logo.bytes).slice(0, DIGEST_CHARACTERS);
        const url = `${baseUrl()}${LOGO_PATH}?v=${version}`;
        return json(toBranding(await branding.uploadLogo(actorOf(request), logo, url)));
      },
      { requires: "administrator", accepts: "bytes", detail: described.replace },
    );
}
