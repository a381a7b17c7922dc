// Policy operations of administrators: read and publish. The governance area validates publications; governance.ts serves
// workstations.
import { Type } from "@sinclair/typebox";
import {
  AdminConfig,
  DeploymentConfigExport,
  GovernanceRevision,
  HarnessManagedConfig,
  HarnessManagedConfigs,
  toGovernanceRevision,
  UpdateAdminConfig,
  UpdateExtensions,
  UpdateHarnessManagedConfig,
} from "../../../domain/governance/reading/admin-view.ts";
import { type Revision, readHarnessKey } from "../../../domain/governance/service.ts";
import { HARNESS_KEYS } from "../../../domain/harnesses/harnesses.ts";
import { IF_MATCH, IF_NONE_MATCH, jsonConditionally, unchanged } from "../../http/conditional.ts";
import { actorOf, principalOf } from "../../http/exchange.ts";
import { withHeaders } from "../../http/header-parameters.ts";
import { KeyedParameters, parameter } from "../../http/paging.ts";
import { jsonBytes } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import { publishOnBaseRevision } from "../../policy-api/base-revision.ts";
import type { RouteContext } from "../../router.ts";

/** Validated by the service, because a publication checks the base revision first. */
const HarnessPath = Type.Object({ harness: Type.Unsafe<string>(Type.String({ enum: [...HARNESS_KEYS] })) });

const RevisionParameters = Type.Object(
  {
    ...KeyedParameters,
    cursor: parameter({ description: "`revision` of the last entry of the previous page, or its number" }),
  },
  { additionalProperties: false },
);

const documented = operationsOf("Administration");
/** limits of every operation that reads or writes a document */
const waiting = {
  503: {
    description:
      "`document.busy`, `document.too_slow`: too many large documents wait, or this one takes too long; Retry-After gives the time until the next attempt",
  },
};
const read = {
  ...waiting,
  400: {
    description:
      "The input is refused; `document.too_slow`: reading a document as YAML takes more than 2 s of processor time; send it as JSON",
  },
};
const reading: typeof documented = (...text) => withHeaders(documented(...text), IF_NONE_MATCH);
const changing: typeof documented = (...text) => withHeaders(documented(...text), IF_MATCH);
const absent = { 404: { description: "No policy is published" } };
const stale = { ...absent, 409: { description: "The policy has changed since the base revision" } };
const published = {
  200: { description: "Published revision, or the current one when nothing changed", schema: AdminConfig },
  ...read,
};
const harnessSettings = { 200: { description: "Settings", schema: HarnessManagedConfig } };

const described = {
  read: reading("getAdminGovernanceConfig", "Current policy, not personalized", {
    200: { description: "Current revision", schema: AdminConfig },
    ...absent,
    ...waiting,
  }),
  publish: changing("updateAdminGovernanceConfig", "Validate and publish a new policy revision", {
    ...published,
    ...stale,
  }),
  revisions: reading("listGovernanceRevisions", "Revisions, the newest first", {
    200: {
      description: "At most `limit`; fewer, or none, at the end of the list",
      schema: Type.Array(GovernanceRevision),
    },
  }),
  publishExtensions: changing(
    "updateGovernanceExtensions",
    "Publish packages, audiences, overrides and MCP servers",
    {
      ...published,
      ...stale,
    },
  ),
  readHarness: reading("getHarnessManagedConfig", "One agent's managed settings as YAML", {
    ...harnessSettings,
    ...waiting,
  }),
  publishHarness: changing(
    "updateHarnessManagedConfig",
    "Replace one agent's managed settings and version range",
    {
      ...harnessSettings,
      ...stale,
      ...read,
    },
  ),
  harnesses: reading(
    "listHarnessManagedConfigs",
    "Managed settings of every supported agent from one revision",
    {
      200: { description: "Maps by harness", schema: HarnessManagedConfigs },
      ...absent,
      ...waiting,
    },
  ),
  exported: documented("exportDeploymentConfig", "Deployable YAML of server settings plus current policy", {
    200: { description: "Export without secrets", schema: DeploymentConfigExport },
    ...absent,
    ...read,
  }),
};

export function governanceAdminRoutes(context: RouteContext) {
  exportRoutes(context);
  const { router, domain } = context;
  const { governance } = domain;
  const { publishing, views } = governance;
  const inForce = inForceOf(governance);
  const tagOf = (revision: Revision): string => `"${views.adminVersion(revision)}"`;
  const answer = async (revision: Revision): Promise<Response> => {
    const etag = tagOf(revision);
    return jsonBytes(await views.adminConfig(revision), { etag });
  };
  const publish = async (
    request: Request,
    stated: string | undefined,
    change: (baseRevision: string) => Promise<Revision>,
  ): Promise<Response> =>
    await answer(
      await publishOnBaseRevision(request, { stated, current: () => inForce(request), tagOf }, change),
    );

  return router
    .get(
      "/admin/governance-config",
      async ({ request }) => {
        const revision = inForce(request);
        return unchanged(request, tagOf(revision)) ?? (await answer(revision));
      },
      {
        requires: "administrator",
        detail: described.read,
      },
    )
    .put(
      "/admin/governance-config",
      async ({ request, body }) => {
        const { base_revision: stated, managed_yaml: managedYaml, comment } = body;
        return await publish(request, stated, (baseRevision) =>
          publishing.publishPolicy(actorOf(request), { baseRevision, managedYaml, comment }),
        );
      },
      { requires: "administrator", accepts: "json", body: UpdateAdminConfig, detail: described.publish },
    )
    .get(
      "/admin/governance-config/revisions",
      ({ request, query }) => {
        const page = governance.revisions.page(principalOf(request).organizationId, query);
        return jsonConditionally(request, page.map(toGovernanceRevision));
      },
      { requires: "administrator", query: RevisionParameters, detail: described.revisions },
    )
    .put(
      "/admin/governance-extensions",
      async ({ request, body }) => {
        const { base_revision: stated, packages, mcp, comment } = body;
        const { package_audiences: packageAudiences, package_overrides: packageOverrides } = body;
        const publication = { packages, packageAudiences, packageOverrides, mcp, comment };
        return await publish(request, stated, (baseRevision) =>
          publishing.publishExtensions(actorOf(request), { baseRevision, ...publication }),
        );
      },
      {
        requires: "administrator",
        accepts: "json",
        body: UpdateExtensions,
        detail: described.publishExtensions,
      },
    );
}

/** @returns the export of the policy for a deployment */
function exportRoutes({ router, domain: { governance, sourceWatch }, configuration }: RouteContext) {
  const inForce = inForceOf(governance);
  return router.get(
    "/admin/blue-config/export",
    async ({ request }) => {
      const revision = inForce(request);
      const sources = sourceWatch.managedSources(actorOf(request).organizationId);
      return jsonBytes(await governance.views.exported(revision, await configuration(), sources));
    },
    { requires: "administrator", detail: described.exported },
  );
}

export function harnessAdminRoutes({ router, domain: { governance } }: RouteContext) {
  const { views } = governance;
  const inForce = inForceOf(governance);
  const tagOf = ({ id }: Revision): string => `"${id}"`;

  return router
    .get(
      "/admin/harnesses/managed-configs",
      async ({ request }) => {
        const revision = inForce(request);
        const etag = tagOf(revision);
        return unchanged(request, etag) ?? jsonBytes(await views.harnessConfigs(revision), { etag });
      },
      {
        requires: "administrator",
        detail: described.harnesses,
      },
    )
    .get(
      "/admin/harnesses/:harness/managed-config",
      async ({ request, params }) => {
        const harness = readHarnessKey(params.harness);
        const revision = inForce(request);
        const etag = tagOf(revision);
        return unchanged(request, etag) ?? jsonBytes(await views.harnessConfig(revision, harness), { etag });
      },
      { requires: "administrator", params: HarnessPath, detail: described.readHarness },
    )
    .put(
      "/admin/harnesses/:harness/managed-config",
      async ({ request, params, body }) => {
        const authored = { stated: body.base_revision, current: () => inForce(request), tagOf };
        const revision = await publishOnBaseRevision(request, authored, (baseRevision) =>
          governance.publishing.publishHarness(actorOf(request), {
            harness: params.harness,
            baseRevision,
            managedConfigYaml: body.managed_config_yaml,
            versionRequirement: body.version_requirement,
            allowUnverifiedVersions: body.allow_unverified_versions,
            comment: body.comment,
          }),
        );
        const bytes = await views.harnessConfig(revision, readHarnessKey(params.harness));
        return jsonBytes(bytes, { etag: tagOf(revision) });
      },
      {
        requires: "administrator",
        accepts: "json",
        params: HarnessPath,
        body: UpdateHarnessManagedConfig,
        detail: described.publishHarness,
      },
    );
}

const inForceOf =
  (governance: RouteContext["domain"]["governance"]) =>
  (request: Request): Revision =>
    governance.revisions.inForce(principalOf(request).organizationId);
