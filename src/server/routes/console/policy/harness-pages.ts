// The harnesses in the console: their place in the policy, and the form that changes one in the draft of the reader.

import type { HarnessVersionCount } from "../../../../domain/clients/service.ts";
import type {
  Draft,
  Governance,
  GovernanceConfig,
  HarnessInput,
} from "../../../../domain/governance/service.ts";
import {
  modelsOf,
  notWritten,
  readHarnessKey,
  USED_ELSEWHERE,
} from "../../../../domain/governance/service.ts";
import { withHiddenSecrets } from "../../../../domain/governance/shown/hidden-secrets.ts";
import { generationsOf } from "../../../../domain/governance/versions/generations.ts";
import { checkVersion } from "../../../../domain/governance/versions/versions.ts";
import { HARNESS_KEYS, type Harness, type HarnessKey } from "../../../../domain/harnesses/harnesses.ts";
import { DomainError } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import type { Console, Done } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import type { Fields } from "../../../console/frame/kept-fields.tsx";
import { HARNESSES_PATH, type HarnessView, harnessesPage } from "../../../console/harnesses/harness-list.tsx";
import { harnessPage } from "../../../console/harnesses/harness-page.tsx";
import {
  changesOf,
  fieldConflict,
  fieldsFor,
  fieldsIn,
  type SettingFields,
} from "../../../console/harnesses/settings-fields.tsx";
import { lengthProblem, withoutReturns } from "../../../console/long-form.ts";
import { statedIn, versionText } from "../../../console/parts/stated-version.ts";
import { REVIEW_PATH } from "../../../console/policy/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { formOperation, pageRoute, uploadRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { discardTextStep } from "./draft-discard-pages.ts";

export function harnessPages({ router, domain }: RouteContext, console: Console) {
  const { drafts, revisions } = domain.governance;
  const { viewsOf, pageOf, send } = createForm(domain);

  return router
    .get(
      HARNESSES_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) =>
          harnessesPage(await viewsOf(reader, revisions.inForce(reader.organizationId).document)),
        ),
      pageRoute("showHarnesses", "Harnesses of the policy"),
    )
    .get(
      `${HARNESSES_PATH}/:harness`,
      ({ request, params }) =>
        console.show(request, "administrator", async (reader) => {
          const harness = readHarnessKey(params.harness);
          return await pageOf(reader, harness, shownTo(reader, harness, drafts.ownOrNew(reader.actor)));
        }),
      pageRoute("showHarness", "One harness, and the form to change it"),
    )
    .post(
      `${HARNESSES_PATH}/:harness`,
      ({ request, params }) =>
        console.actLong(
          request,
          { needs: "administrator", back: `${HARNESSES_PATH}/${params.harness}` },
          (reader, sent) => send(reader, readHarnessKey(params.harness), sent),
        ),
      uploadRoute(formOperation("sendHarness", "Saves the settings of one harness in the draft")),
    );
}

/** @returns the draft, without secrets for readers who are not administrators */
function shownTo({ mayAdminister }: Reader, harness: HarnessKey, draft: Draft): Draft {
  const policy = draft.document.harnesses[harness];
  if (mayAdminister || !policy) return draft;
  const hidden = withHiddenSecrets(policy, { path: ["harnesses", harness] });
  const document = { ...draft.document, harnesses: { ...draft.document.harnesses, [harness]: hidden } };
  return { ...draft, document, typed: { harnesses: {} } };
}

/** @returns functions that show the form and answer it */
function createForm(domain: RouteContext["domain"]) {
  const { clients, governance, harnesses } = domain;
  const { drafts, views } = governance;
  const viewsOf = async ({ organizationId }: Reader, document: GovernanceConfig): Promise<HarnessView[]> => {
    const { versions } = await runInTurns(clients.inventory.versionsInSteps(organizationId));
    return HARNESS_KEYS.map((key) => viewOf(key, document, { harnesses: harnesses.harnesses(), versions }));
  };
  const pageOf = async (reader: Reader, harness: HarnessKey, draft: Draft, shown: Shown = {}) => {
    const [view] = (await viewsOf(reader, draft.document)).filter((one) => one.harness === harness);
    if (!view) return harnessesPage([]);
    const typed = draft.typed.harnesses[harness];
    const isAllowed = draft.document.allowed_harnesses.includes(harness);
    const kept = typed && { ...typed.input, isAllowed: typed.input.isAllowed ?? isAllowed };
    const saved = kept ?? (await inputOf(views, harness, draft.document));
    const input = shown.input ?? saved;
    const isRefused = shown.error !== undefined || shown.isStale === true;
    const { values } = await drafts.typedSettings(input.managedConfigYaml, {});
    return harnessPage({
      view,
      input,
      version: versionText(draft),
      error: shown.error,
      fields: (values && !isRefused ? undefined : shown.fields) ?? (values && fieldsFor(values)),
      models: modelsOf(draft.document.harnesses[harness]),
      typed: { ...draft.typed, harnesses: {} },
      problems: shown.input ? [] : (typed?.problems ?? []),
      isUnsaved: shown.input !== undefined,
      other: shown.isStale ? saved : undefined,
    });
  };
  const send = async (reader: Reader, harness: HarnessKey, sent: Fields): Promise<ConsolePage | Done> => {
    if (sent.act === "discard")
      return await discardTextStep(domain, reader.actor, { name: harness, fields: sent });
    const entered = inputIn(sent);
    const fields = fieldsIn(sent);
    const stated = statedIn(sent.version);
    try {
      refuseLength(entered.managedConfigYaml);
      const text = await withFields(drafts, entered.managedConfigYaml, fields);
      if (sent.act === "write" && text === undefined)
        throw notWritten("the text cannot be read yet; save it to see why");
      const input = { ...entered, managedConfigYaml: text ?? entered.managedConfigYaml };
      if (sent.act === "write") {
        const own = drafts.ownOrNew(reader.actor);
        const read = { ...own, ...stated, baseRevision: stated.baseRevision ?? own.baseRevision };
        return await pageOf(reader, harness, read, { input, fields });
      }
      const draft = await drafts.saveHarness(reader.actor, stated, harness, input);
      if (draft.typed.harnesses[harness]?.problems.length === 0)
        return { to: REVIEW_PATH, notice: "The draft is saved. Nothing is published yet." };
      return await pageOf(reader, harness, draft, { fields });
    } catch (error) {
      if (!(error instanceof DomainError) || !error.reason.startsWith("policy_draft.")) throw error;
      const isStale = error.reason === "policy_draft.changed";
      const shown = { input: entered, fields, ...(isStale ? { isStale } : { error: error.message }) };
      return await pageOf(reader, harness, drafts.ownOrNew(reader.actor), shown);
    }
  };

  return { viewsOf, pageOf, send };
}

/** What the page shows instead of the draft. */
interface Shown {
  /** not saved */
  input?: HarnessInput;
  /** why it could not be saved */
  error?: string;
  /** whether the draft was saved elsewhere after the form was opened */
  isStale?: boolean;
  /** as sent; kept while the text is unreadable, and beside an error */
  fields?: SettingFields | undefined;
}

const inputIn = (sent: Fields): HarnessInput => ({
  managedConfigYaml: withoutReturns(sent.settings ?? ""),
  versionRequirement: sent.requirement ?? null,
  allowUnverifiedVersions: sent.unverified === "yes",
  isAllowed: sent.allowed === "yes",
});

/**
 * @returns the text with the changes of the fields; undefined for unreadable text, whose problems a save shows
 * @throws DomainError `policy_draft.two_values`, `policy_draft.not_written`
 */
async function withFields(
  drafts: Governance["drafts"],
  text: string,
  fields: SettingFields | undefined,
): Promise<string | undefined> {
  const { values } = await drafts.typedSettings(text, {});
  if (!values) return undefined;
  if (!fields) return text;
  const why = fieldConflict(fields, values);
  if (why !== undefined) throw new DomainError("invalid", "policy_draft.two_values", why);
  const { text: changed } = await drafts.typedSettings(text, changesOf(fields));
  if (changed !== undefined) return changed;
  throw notWritten(USED_ELSEWHERE);
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
    harness,
    isAllowed,
    requirement: policy?.version_requirement,
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

const inputOf = async (
  views: Governance["views"],
  harness: HarnessKey,
  { harnesses, allowed_harnesses: allowed }: GovernanceConfig,
): Promise<HarnessInput> => {
  const policy = harnesses[harness];
  return {
    managedConfigYaml: await views.settingsText(policy?.managed_config ?? {}),
    versionRequirement: policy?.version_requirement ?? null,
    allowUnverifiedVersions: policy?.allow_unverified_versions === true,
    isAllowed: allowed.includes(harness),
  };
};

/** @throws DomainError `policy_draft.too_long` */
function refuseLength(text: string): void {
  const problem = lengthProblem(text);
  if (problem !== undefined) throw new DomainError("invalid", "policy_draft.too_long", problem);
}
