// The harnesses in the console: their place in the policy, and the form that changes one in the draft of the reader.
import type { HarnessVersionCount } from "../../../../domain/clients/service.ts";
import type { Draft, GovernanceConfig, HarnessInput } from "../../../../domain/governance/service.ts";
import { readHarnessKey } from "../../../../domain/governance/service.ts";
import { generationsOf } from "../../../../domain/governance/versions/generations.ts";
import { checkVersion } from "../../../../domain/governance/versions/versions.ts";
import { HARNESS_KEYS, type Harness, type HarnessKey } from "../../../../domain/harnesses/harnesses.ts";
import { DomainError } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import { yamlText } from "../../../../platform/text/yaml-write.ts";
import type { Console } from "../../../console/console.ts";
import { lengthProblem, withoutReturns } from "../../../console/long-form.ts";
import {
  HARNESSES_PATH,
  type HarnessView,
  harnessesPage,
  harnessPage,
} from "../../../console/policy/harness-pages.tsx";
import { REVIEW_PATH } from "../../../console/policy/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { formOperation, pageRoute, uploadRoute } from "../../../pages/html.ts";
import { createRouter, type RouteContext } from "../../../router.ts";

/** @returns the pages of harnesses and the form of one */
export function harnessPages({ guard, domain }: RouteContext, console: Console) {
  const { clients, governance } = domain;
  const { drafts } = governance;
  const viewsOf = async ({ organizationId }: Reader, document: GovernanceConfig): Promise<HarnessView[]> => {
    const { versions } = await runInTurns(clients.inventory.versionsInSteps(organizationId));
    return HARNESS_KEYS.map((key) =>
      viewOf(key, document, { harnesses: domain.harnesses.harnesses(), versions }),
    );
  };
  const pageOf = async (reader: Reader, harness: HarnessKey, draft: Draft, refused?: Refused) => {
    const [view] = (await viewsOf(reader, draft.document)).filter((one) => one.harness === harness);
    if (!view) return harnessesPage([]);
    if (refused) return harnessPage({ view, ...refused, version: draft.version, problems: [] });
    const typed = draft.typed.harnesses[harness];
    const input = typed?.input ?? inputOf(harness, draft.document);
    return harnessPage({ view, input, version: draft.version, problems: typed?.problems ?? [] });
  };

  return createRouter(guard, "console-harnesses")
    .get(
      HARNESSES_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) =>
          harnessesPage(await viewsOf(reader, governance.revisions.inForce(reader.organizationId).document)),
        ),
      pageRoute("showHarnesses", "Harnesses of the policy"),
    )
    .get(
      `${HARNESSES_PATH}/:harness`,
      ({ request, params }) =>
        console.show(request, "administrator", async (reader) => {
          const harness = readHarnessKey(params.harness);
          return await pageOf(reader, harness, drafts.ownOrNew(reader.actor));
        }),
      pageRoute("showHarness", "One harness, and the form to change it"),
    )
    .post(
      `${HARNESSES_PATH}/:harness`,
      ({ request, params }) =>
        console.actLong(
          request,
          { needs: "administrator", back: `${HARNESSES_PATH}/${params.harness}` },
          async (reader, fields) => {
            const harness = readHarnessKey(params.harness);
            const input: HarnessInput = {
              managedConfigYaml: withoutReturns(fields.settings ?? ""),
              versionRequirement: fields.requirement ?? null,
              allowUnverifiedVersions: fields.unverified === "yes",
              isAllowed: fields.allowed === "yes",
            };
            const version = Number(/^\d{1,9}$/.exec(fields.version ?? "0")?.[0] ?? 0);
            try {
              refuseLength(input.managedConfigYaml);
              const draft = await drafts.saveHarness(reader.actor, { version }, harness, input);
              if (draft.typed.harnesses[harness]?.problems.length === 0)
                return { to: REVIEW_PATH, notice: "The draft is saved. Nothing is published yet." };
              return await pageOf(reader, harness, draft);
            } catch (error) {
              const why = whyRefused(error);
              if (why === undefined) throw error;
              const draft = drafts.ownOrNew(reader.actor);
              return await pageOf(reader, harness, draft, { input, error: why });
            }
          },
        ),
      uploadRoute(formOperation("sendHarness", "Saves the settings of one harness in the draft")),
    );
}

/** What was typed and could not be saved. */
interface Refused {
  input: HarnessInput;
  error: string;
}

/** @returns the sentence that the page shows beside what was typed; undefined for an error that is none of the form */
function whyRefused(error: unknown): string | undefined {
  if (!(error instanceof DomainError) || !error.reason.startsWith("policy_draft.")) return undefined;
  if (error.reason !== "policy_draft.changed") return error.message;
  return `${error.message}. What you typed is below; saving it again replaces what the draft says here`;
}

function viewOf(
  harness: HarnessKey,
  document: GovernanceConfig,
  { harnesses, versions }: { harnesses: readonly Harness[]; versions: readonly HarnessVersionCount[] },
): HarnessView {
  const policy = document.harnesses[harness];
  const isAllowed = document.allowed_harnesses.includes(harness);
  const refusalOf = (version: string): string | undefined =>
    isAllowed ? checkVersion(harnesses, policy, harness, version) : "the policy does not allow this harness";
  return {
    ...{ harness, isAllowed, requirement: policy?.version_requirement },
    allowsUnverified: policy?.allow_unverified_versions === true,
    certifiedBefore: generationsOf(harnesses, harness).at(-1)?.facts.verifiedBefore,
    settings: Object.keys(policy?.managed_config ?? {}).length,
    servers: policy?.mcp.length ?? 0,
    packages: document.packages.filter(({ adapters }) => adapters[harness] !== undefined).length,
    versions: versions
      .filter((counted) => counted.harness === harness)
      .map(({ version, clients }) => ({ version, clients, refusal: refusalOf(version) })),
  };
}

function inputOf(
  harness: HarnessKey,
  { harnesses, allowed_harnesses: allowed }: GovernanceConfig,
): HarnessInput {
  const policy = harnesses[harness];
  const settings = policy?.managed_config ?? {};
  return {
    managedConfigYaml: Object.keys(settings).length === 0 ? "" : yamlText(settings),
    versionRequirement: policy?.version_requirement ?? null,
    allowUnverifiedVersions: policy?.allow_unverified_versions === true,
    isAllowed: allowed.includes(harness),
  };
}

/** @throws DomainError `policy_draft.too_long` */
function refuseLength(text: string): void {
  const problem = lengthProblem(text);
  if (problem !== undefined) throw new DomainError("invalid", "policy_draft.too_long", problem);
}
