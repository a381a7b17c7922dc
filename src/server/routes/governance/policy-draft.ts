// The draft of an administrator: read, save, merge, publish and discard it. domain/governance/drafts does the work.
import { setImmediate } from "node:timers/promises";
import { type Static, Type } from "@sinclair/typebox";
import type { Domain } from "../../../domain/domain.ts";
import {
  MergedPolicyDraft,
  MergePolicyDraft,
  PolicyDraft,
  PublishedPolicyDraft,
  PublishPolicyDraft,
  SavePolicyDraft,
  toPolicyDraft,
} from "../../../domain/governance/drafts/draft-wire.ts";
import {
  type Draft,
  discardText,
  documentText,
  type Governance,
  readHarnessKey,
  type StatedVersion,
} from "../../../domain/governance/service.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { DomainError } from "../../../platform/errors.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { actorOf } from "../../http/exchange.ts";
import { parameter } from "../../http/paging.ts";
import { json, jsonOfParts } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

type Saving = Pick<Domain, "governance" | "catalog">;
type PackageChange = NonNullable<Static<typeof SavePolicyDraft>["package"]>;

const DraftQuery = Type.Object(
  {
    draft: parameter({
      description: "Id of a shared draft or of the caller's own; the own draft if omitted",
    }),
  },
  { additionalProperties: false },
);

const documented = operationsOf("Administration");
const busy = {
  503: {
    description: "`document.busy`, `document.too_slow`: Retry-After gives the time until the next attempt",
  },
};
const absent = {
  404: {
    description: "`policy_draft.none`: there is no such draft; `policy_draft.not_shared`: it is not shared",
  },
};
const changed = {
  409: {
    description:
      "`policy_draft.changed`: it was saved elsewhere after that version; `policy_draft.broken_text`: another text of the draft has problems and would be replaced",
  },
};
const draft = { 200: { description: "Draft", schema: PolicyDraft } };

const described = {
  read: documented(
    "getPolicyDraft",
    "The caller's draft of the policy, or a shared one; without a draft, a new one that is not saved",
    {
      ...draft,
      404: {
        description:
          "No policy is published; `policy_draft.none`: there is no such draft; `policy_draft.not_shared`: it is not shared",
      },
      ...busy,
    },
  ),
  save: documented("savePolicyDraft", "Save one part of the caller's draft; publishes nothing", {
    ...draft,
    ...changed,
    400: { description: "Not exactly one part, or extensions with problems; the draft does not change" },
    404: { description: "No policy is published, or there is no such revision, package or conflict" },
    ...busy,
  }),
  discard: documented("discardPolicyDraft", "Discard the caller's draft", {
    204: { description: "Discarded" },
    ...absent,
  }),
  merge: documented("mergePolicyDraft", "Merge later publications into the caller's draft", {
    200: { description: "Merged, or the places to decide first", schema: MergedPolicyDraft },
    ...absent,
    409: { description: "`policy_draft.changed`, `policy_draft.broken_text`" },
    ...busy,
  }),
  publish: documented("publishPolicyDraft", "Publish a draft as one revision, and remove the draft", {
    200: {
      description: "Published revision, or the current one when nothing changed",
      schema: PublishedPolicyDraft,
    },
    400: { description: "The draft has problems, or a comment is required" },
    403: { description: "`policy_draft.second_administrator`: another administrator must publish it" },
    ...absent,
    409: { description: "The draft, or the policy since its base revision, has changed" },
    ...busy,
  }),
};

export function policyDraftRoutes({ router, domain }: RouteContext) {
  const { drafts, draftPublishing } = domain.governance;
  const answer = async (actor: Actor, own: Draft): Promise<Response> => {
    const review = await draftPublishing.review(actor, own);
    return await jsonOfParts(toPolicyDraft(own, review), {
      managed_yaml: await setImmediate(JSON.stringify(await drafts.textOf(own))),
      document: await documentText(own),
      changes: review.changes.text,
    });
  };

  return router
    .get(
      "/admin/policy-draft",
      async ({ request, query }) => {
        const actor = actorOf(request);
        const found = query.draft === undefined ? drafts.ownOrNew(actor) : drafts.show(actor, query.draft);
        return await answer(actor, found);
      },
      { requires: "administrator", query: DraftQuery, detail: described.read },
    )
    .put(
      "/admin/policy-draft",
      async ({ request, body }) => {
        const actor = actorOf(request);
        return await answer(actor, await save(domain, actor, body));
      },
      { requires: "administrator", accepts: "json", body: SavePolicyDraft, detail: described.save },
    )
    .delete(
      "/admin/policy-draft",
      async ({ request }) => {
        const actor = actorOf(request);
        await drafts.discard(actor, drafts.existing(actor).id);
        return new Response(null, { status: 204 });
      },
      { requires: "administrator", accepts: "nothing", detail: described.discard },
    )
    .post(
      "/admin/policy-draft/merge",
      async ({ request, body: { version, decisions = {}, decided_on: decidedOn } }) => {
        const actor = actorOf(request);
        const { draft, current, undecided } = await draftPublishing.merge(
          actor,
          { version, decidedOn },
          decisions,
        );
        const { version: next, baseRevision } = draft;
        return await jsonOfParts(
          { version: next, base_revision: baseRevision, current_revision: current.id },
          { undecided: undecided.text },
        );
      },
      { requires: "administrator", accepts: "json", body: MergePolicyDraft, detail: described.merge },
    )
    .post(
      "/admin/policy-draft/publish",
      async ({ request, body: { version, draft, comment } }) => {
        const actor = actorOf(request);
        const publication = { draft: draft ?? drafts.existing(actor).id, version, comment };
        const { revision, isPublished } = await draftPublishing.publish(actor, publication);
        return json({ revision: revision.id, number: revision.sequence, published: isPublished });
      },
      { requires: "administrator", accepts: "json", body: PublishPolicyDraft, detail: described.publish },
    );
}

async function save(
  { governance: { drafts }, catalog }: Saving,
  actor: Actor,
  { version, base_revision: baseRevision, ...parts }: Static<typeof SavePolicyDraft>,
): Promise<Draft> {
  const stated = { version, baseRevision };
  const { managed_yaml: text, harness, extensions, mcp, models, package: managed, revision } = parts;
  if (Object.keys(parts).length !== 1) throw onePartOnly();
  if (text !== undefined) return await drafts.savePolicy(actor, stated, text);
  if (harness) return await drafts.saveHarness(actor, stated, harness.harness, harnessInputOf(harness));
  if (extensions) return await drafts.saveExtensions(actor, stated, extensionsInputOf(extensions));
  if (mcp) return await drafts.saveMcp(actor, stated, mcp);
  if (managed) return await savePackage({ drafts, catalog }, actor, stated, managed);
  if (models) return await drafts.saveModels(actor, stated, modelsInputOf(models));
  if (revision !== undefined) return await drafts.saveFormer(actor, stated, revision);
  if (parts.discard_text !== undefined) return await discardText(drafts, actor, stated, parts.discard_text);
  if (parts.deployment) return await drafts.takeFileValues(actor, stated, parts.deployment);
  return await drafts.share(actor, stated, parts.shared === true);
}

const harnessInputOf = (input: NonNullable<Static<typeof SavePolicyDraft>["harness"]>) => ({
  managedConfigYaml: input.managed_config_yaml,
  versionRequirement: input.version_requirement,
  allowUnverifiedVersions: input.allow_unverified_versions,
  isAllowed: input.allowed,
});

const extensionsInputOf = (input: NonNullable<Static<typeof SavePolicyDraft>["extensions"]>) => ({
  packages: input.packages,
  packageAudiences: input.package_audiences,
  packageOverrides: input.package_overrides,
  mcp: input.mcp,
});

async function savePackage(
  { drafts, catalog }: { drafts: Governance["drafts"] } & Pick<Saving, "catalog">,
  actor: Actor,
  stated: StatedVersion,
  { id, ...change }: PackageChange,
): Promise<Draft> {
  const { entry, audience, use, remove } = change;
  if (Object.keys(change).length !== 1) throw oneChangeOnly();
  if (remove) return await drafts.removePackage(actor, stated, id);
  if (audience) return await drafts.audience(actor, stated, id, audience);
  if (entry !== undefined) return await drafts.takePackage(actor, stated, { ...asObject(entry), id });
  if (!use) return await drafts.takePackage(actor, stated, catalog.get(actor.organizationId, id));
  const { harness, enabled: isEnabled, settings = {} } = use;
  return await drafts.use(actor, stated, id, { harness: readHarnessKey(harness), isEnabled, settings });
}

/** A value that is not an object is reported by another check. */
const asObject = (entry: unknown): object => (isJsonObject(entry) ? entry : {});

const oneChangeOnly = (): DomainError =>
  new DomainError("invalid", "policy_draft.one_change", "a save has exactly one change of a package", {
    problems: [
      { pointer: "/package", detail: "must have exactly one of catalog, entry, remove, audience and use" },
    ],
  });

const modelsInputOf = (input: NonNullable<Static<typeof SavePolicyDraft>["models"]>) => ({
  harness: input.harness,
  gatewayModels: input.gateway_models,
  defaultModel: input.default_model,
});

const onePartOnly = (): DomainError =>
  new DomainError("invalid", "policy_draft.one_part", "a save has exactly one part of the draft", {
    problems: [
      {
        pointer: "",
        detail:
          "must have exactly one of managed_yaml, harness, extensions, mcp, models, package, revision, deployment, discard_text and shared",
      },
    ],
  });
