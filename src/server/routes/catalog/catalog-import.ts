// The import of a bundle for administrators. The body is the bundle; the operation checks it, and applies it or returns
// the plan.
import { Type } from "@sinclair/typebox";
import { ImportPlanView, toImportPlanView } from "../../../domain/catalog/bundles/bundle-wire.ts";
import { BUNDLE_UPLOAD_BYTES_MAX } from "../../../domain/catalog/bundles/pending-bundles.ts";
import { readTrustedKeys } from "../../../platform/crypto/file-signatures.ts";
import { refuseEncoded } from "../../http/bodies/body-text.ts";
import { ARCHIVE_TIMES, declaredLength, streamBody } from "../../http/bodies/streamed-body.ts";
import { DryRunParameters, isDryRun } from "../../http/dry-run.ts";
import { actorOf } from "../../http/exchange.ts";
import { json } from "../../http/responses.ts";
import { operation } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

/** Maximum length of the keys in an address. */
const TRUST_CHARACTERS = 4_000;

const ImportQuery = Type.Object(
  {
    ...DryRunParameters.properties,
    trust: Type.String({
      minLength: 1,
      maxLength: TRUST_CHARACTERS,
      description: "Trusted public keys in PEM; `catalog bundle-key` prints the key of an installation.",
    }),
    keep: Type.Optional(
      Type.Union([Type.Literal("true"), Type.Literal("false")], {
        description: "true: keep packages of the catalog that the bundle lacks",
      }),
    ),
  },
  { additionalProperties: false },
);

export function catalogImportRoutes({ router, domain, uploadTimes = ARCHIVE_TIMES }: RouteContext) {
  const { catalog, governance, pendingBundles } = domain;
  return router.post(
    "/admin/catalog/import",
    async ({ request, query }) => {
      const isPlan = isDryRun(query);
      const trusted = {
        name: "the parameter trust",
        keys: readTrustedKeys(query.trust, "the parameter trust"),
      };
      refuseEncoded(request);
      const length = declaredLength(request, BUNDLE_UPLOAD_BYTES_MAX);
      const actor = actorOf(request);
      const bundle = await pendingBundles.keep(streamBody(request, length, uploadTimes));
      try {
        const work = isPlan ? catalog.bundles.plan : catalog.bundles.import;
        const plan = await work(actor, {
          file: await pendingBundles.file(bundle, "the bundle"),
          trusted,
          keep: query.keep === "true",
          inUse: (connection) => governance.revisions.packagesInUse(connection, actor.organizationId),
          allowDangling: false,
          signal: request.signal,
        });
        return json(toImportPlanView(plan, isPlan));
      } finally {
        await pendingBundles.drop(bundle);
      }
    },
    {
      requires: "administrator",
      accepts: "bytes",
      query: ImportQuery,
      detail: operation("importCatalog", "Import a signed bundle into the catalog, whose file is the body", {
        tags: ["Administration"],
        answers: {
          200: { description: "What changed, or would change", schema: ImportPlanView },
          400: { description: "The body is truncated, or the keys cannot be read" },
          408: { description: "The body arrived too slowly" },
          409: { description: "The current policy uses a package that would be removed" },
          413: { description: `The bundle has more than ${BUNDLE_UPLOAD_BYTES_MAX} bytes` },
          422: { description: "The bundle is not signed by these keys, or breaks a rule" },
          503: { description: "The disk is full" },
        },
      }),
    },
  );
}
