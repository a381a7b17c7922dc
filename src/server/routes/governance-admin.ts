// The policy as administrators read and publish it (openapi.yaml, Administration). What may be published is decided in
// governance; what workstations get is in governance.ts.
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
} from "../../domain/governance/admin-view.ts";
import { type Revision, readHarnessKey } from "../../domain/governance/service.ts";
import { HARNESS_KEYS } from "../../domain/harnesses.ts";
import { json, jsonBytes } from "../answers.ts";
import { actorOf, principalOf } from "../exchange.ts";
import { operationsOf } from "../openapi.ts";
import { createRouter, type RouteContext } from "../router.ts";

/** Judged by the service: in an answer about a publication the base comes first. */
const HarnessPath = Type.Object({ harness: Type.Unsafe<string>(Type.Unknown({ enum: [...HARNESS_KEYS] })) });

const documented = operationsOf("Administration");
/** of every operation that has a document read or written */
const waiting = {
  503: {
    description:
      "`document.busy`, `document.too_slow`: too many large documents wait, or this one takes too long; Retry-After says when to try again",
  },
};
const read = {
  ...waiting,
  400: {
    description:
      "The input is refused; `document.too_slow`: a document takes more than 2 s of processor time to read as YAML and is read at once as JSON",
  },
};
const absent = { 404: { description: "No policy is published" } };
const stale = { ...absent, 409: { description: "The policy has changed since the base revision" } };
const published = {
  200: { description: "Published revision, or the current one when nothing changed", schema: AdminConfig },
  ...read,
};
const harnessSettings = { 200: { description: "Settings", schema: HarnessManagedConfig } };

const described = {
  read: documented("getAdminGovernanceConfig", "Current policy, unpersonalised", {
    200: { description: "Current revision", schema: AdminConfig },
    ...absent,
    ...waiting,
  }),
  publish: documented("updateAdminGovernanceConfig", "Validate and publish a new policy revision", {
    ...published,
    ...stale,
  }),
  revisions: documented("listGovernanceRevisions", "Newest revisions", {
    200: { description: "Newest first", schema: Type.Array(GovernanceRevision) },
  }),
  publishExtensions: documented(
    "updateGovernanceExtensions",
    "Publish packages, audiences, overrides and MCP servers",
    {
      ...published,
      ...stale,
    },
  ),
  readHarness: documented("getHarnessManagedConfig", "One agent's managed settings as YAML", {
    ...harnessSettings,
    ...waiting,
  }),
  publishHarness: documented(
    "updateHarnessManagedConfig",
    "Replace one agent's managed settings and version range",
    {
      ...harnessSettings,
      ...stale,
      ...read,
    },
  ),
  harnesses: documented(
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

/** @returns the operations on the policy (openapi.yaml, Administration) */
export function governanceAdminRoutes({ guard, domain, configuration }: RouteContext) {
  const { governance } = domain;
  const { publishing, views } = governance;
  const inForce = inForceOf(governance);
  const answer = async (revision: Revision): Promise<Response> =>
    jsonBytes(await views.adminConfig(revision));

  return createRouter(guard, "governance-admin")
    .get("/admin/governance-config", async ({ request }) => await answer(inForce(request)), {
      requires: "administrator",
      detail: described.read,
    })
    .put(
      "/admin/governance-config",
      async ({ request, body }) => {
        const { base_revision: baseRevision, managed_yaml: managedYaml, comment } = body;
        return await answer(
          await publishing.publishPolicy(actorOf(request), { baseRevision, managedYaml, comment }),
        );
      },
      { requires: "administrator", accepts: "json", body: UpdateAdminConfig, detail: described.publish },
    )
    .get(
      "/admin/governance-config/revisions",
      ({ request }) => json(governance.list(principalOf(request).organizationId).map(toGovernanceRevision)),
      { requires: "administrator", detail: described.revisions },
    )
    .put(
      "/admin/governance-extensions",
      async ({ request, body }) => {
        const { base_revision: baseRevision, packages, mcp, comment } = body;
        const { package_audiences: packageAudiences, package_overrides: packageOverrides } = body;
        const publication = { baseRevision, packages, packageAudiences, packageOverrides, mcp, comment };
        return await answer(await publishing.publishExtensions(actorOf(request), publication));
      },
      {
        requires: "administrator",
        accepts: "json",
        body: UpdateExtensions,
        detail: described.publishExtensions,
      },
    )
    .get(
      "/admin/blue-config/export",
      async ({ request }) => jsonBytes(await views.exported(inForce(request), await configuration())),
      { requires: "administrator", detail: described.exported },
    );
}

/** @returns the operations on what the policy says of one harness */
export function harnessAdminRoutes({ guard, domain: { governance } }: RouteContext) {
  const { views } = governance;
  const inForce = inForceOf(governance);

  return createRouter(guard, "harness-admin")
    .get(
      "/admin/harnesses/managed-configs",
      async ({ request }) => jsonBytes(await views.harnessConfigs(inForce(request))),
      {
        requires: "administrator",
        detail: described.harnesses,
      },
    )
    .get(
      "/admin/harnesses/:harness/managed-config",
      async ({ request, params }) => {
        const harness = readHarnessKey(params.harness);
        return jsonBytes(await views.harnessConfig(inForce(request), harness));
      },
      { requires: "administrator", params: HarnessPath, detail: described.readHarness },
    )
    .put(
      "/admin/harnesses/:harness/managed-config",
      async ({ request, params, body }) => {
        const revision = await governance.publishing.publishHarness(actorOf(request), {
          harness: params.harness,
          baseRevision: body.base_revision,
          managedConfigYaml: body.managed_config_yaml,
          versionRequirement: body.version_requirement,
          allowUnverifiedVersions: body.allow_unverified_versions,
          comment: body.comment,
        });
        return jsonBytes(await views.harnessConfig(revision, readHarnessKey(params.harness)));
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
    governance.inForce(principalOf(request).organizationId);
