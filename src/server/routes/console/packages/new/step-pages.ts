// The steps after the archive of a new package is stored: inspection, name, layout, audience, and the check of everything.

import { isDeepStrictEqual } from "node:util";
import {
  type Addition,
  audienceMark,
  completeAddition,
} from "../../../../../domain/governance/additions/addition-model.ts";
import { proposeIdentity } from "../../../../../domain/governance/additions/proposed-identity.ts";
import { listAudiences } from "../../../../../domain/governance/delivery/audiences.ts";
import { invariant } from "../../../../../platform/errors.ts";
import { ownMember } from "../../../../../platform/json/json-object.ts";
import type { Console, Done } from "../../../../console/console.ts";
import type { ConsolePage } from "../../../../console/frame/frame.tsx";
import type { Fields } from "../../../../console/frame/kept-fields.tsx";
import { checkPage } from "../../../../console/packages/new/check-page.tsx";
import { identityPage, packageName } from "../../../../console/packages/new/identity-page.tsx";
import { inspectionPage } from "../../../../console/packages/new/inspection-page.tsx";
import {
  isOpen,
  nextStep,
  type RefusedStep,
  refusedStepOf,
} from "../../../../console/packages/new/steps.tsx";
import { NEW_BREADCRUMBS, STEPS, type Step } from "../../../../console/packages/new/words.ts";
import { statedIn } from "../../../../console/parts/stated-version.ts";
import { REVIEW_PATH } from "../../../../console/policy/words.ts";
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
import { type AudiencePlace, createAudienceForms } from "../audience-form.ts";
import { createLayoutForm } from "./layout-form.ts";

type Domain = RouteContext["domain"];

const IDENTITY = formOf({
  csrf: FormField,
  by: FormField,
  version_read: FormField,
  id: FormField,
  version: FormField,
  name: FormField,
  replaces: FormField,
});
const CHECK = formOf({ csrf: FormField, by: FormField, version_read: FormField });
const action = (step: Step) => ({ needs: "administrator", back: STEPS[step].path }) as const;

/** @returns the pages and forms of these steps; a step that cannot be opened redirects to the next open one */
export function stepPages(context: RouteContext, console: Console) {
  const { router, domain } = context;
  const layout = createLayoutForm(domain);
  const audience = audienceStep(domain);
  const shown = (
    step: Step,
    page: (reader: Reader, addition: Addition) => ConsolePage | Promise<ConsolePage>,
  ) => {
    return ({ request }: { request: Request }) =>
      console.show(request, "administrator", (reader) => stepOr(domain, reader, step, page));
  };

  return router
    .get(
      STEPS.inspection.path,
      shown("inspection", async ({ organizationId }, addition) =>
        inspectionPage({
          addition,
          archive: await domain.packageSources.archives.show(organizationId, addition.source.sha256),
        }),
      ),
      pageRoute("showNewPackageInspection", "Contents of the archive of a new package"),
    )
    .get(
      STEPS.identity.path,
      shown("identity", (reader, addition) => nameAgain(domain, reader, addition)),
      pageRoute("showNewPackageName", "The form that names a new package"),
    )
    .post(
      STEPS.identity.path,
      ({ request, body }) =>
        console.act(request, body, action("identity"), (reader) =>
          stepOr(domain, reader, "identity", (_, addition) => nameIt(domain, reader, { addition, body })),
        ),
      formRoute(IDENTITY, formOperation("sendNewPackageName", "Names a new package")),
    )
    .get(
      STEPS.layout.path,
      shown("layout", layout.show),
      pageRoute("showNewPackageLayout", "Parts of a new package for each harness"),
    )
    .post(
      STEPS.layout.path,
      ({ request }) =>
        console.actLong(request, action("layout"), (reader, fields) =>
          stepOr(domain, reader, "layout", () => layout.act(reader, fields)),
        ),
      uploadRoute(formOperation("sendNewPackageLayout", "Sets the parts of a new package for each harness")),
    )
    .get(
      STEPS.audience.path,
      shown("audience", audience.show),
      pageRoute("showNewPackageAudience", "Audience of a new package"),
    )
    .post(
      STEPS.audience.path,
      ({ request }) =>
        console.actLong(request, action("audience"), (reader, fields) =>
          stepOr(domain, reader, "audience", (_, addition) => audience.act(reader, addition, fields)),
        ),
      uploadRoute(formOperation("sendNewPackageAudience", "Sets the audience of a new package")),
    );
}

export function checkPages({ router, domain }: RouteContext, console: Console) {
  return router
    .get(
      STEPS.check.path,
      ({ request }) =>
        console.show(request, "administrator", (reader) =>
          stepOr(domain, reader, "check", (_, addition) => checkAgain(domain, reader, addition)),
        ),
      pageRoute("showNewPackageCheck", "Everything about a new package, before it goes into the draft"),
    )
    .post(
      STEPS.check.path,
      ({ request, body }) =>
        console.act(request, body, action("check"), (reader) =>
          stepOr(domain, reader, "check", (_, addition) =>
            finish(domain, reader, { addition, version: body.version_read }),
          ),
        ),
      formRoute(CHECK, formOperation("sendNewPackageCheck", "Puts a new package into the draft")),
    );
}

/** @returns the result of the step's work, or a redirect to the next open step */
async function stepOr<Answer>(
  { packageAdditions }: Domain,
  reader: Reader,
  step: Step,
  work: (reader: Reader, addition: Addition) => Answer | Promise<Answer>,
): Promise<Answer | Response> {
  const addition = packageAdditions.find(reader.actor);
  if (addition && isOpen(step, addition)) return await work(reader, addition);
  return seeOther(STEPS[nextStep(addition)].path);
}

const inDraft = ({ governance: { drafts } }: Domain, { actor }: Reader, id: string) =>
  drafts.ownOrNew(actor).document.packages.find((one) => one.id === id);

function nameAgain(domain: Domain, reader: Reader, addition: Addition): ConsolePage {
  const { identity, source } = addition;
  const entered = identity ?? proposeIdentity(source.sourceRef);
  const known = inDraft(domain, reader, entered.id);
  return identityPage({
    addition,
    entered,
    known,
    isReplacement: isDeepStrictEqual(known, addition.replaces),
  });
}

interface SentName {
  addition: Addition;
  body: { id?: string; version?: string; name?: string; replaces?: string; version_read?: string };
}

async function nameIt(
  domain: Domain,
  reader: Reader,
  { addition, body }: SentName,
): Promise<ConsolePage | Done> {
  const entered = {
    id: body.id?.trim() ?? "",
    version: body.version?.trim() ?? "",
    name: body.name?.trim() ?? "",
  };
  const known = inDraft(domain, reader, entered.id);
  const isReplacement = known !== undefined && body.replaces === packageName(known);
  try {
    const stated = statedIn(body.version_read);
    await domain.packageAdditions.identify(reader.actor, stated, { ...entered, isReplacement });
    return { to: STEPS.layout.path };
  } catch (error) {
    const refused = refusedStepOf(error);
    const now = domain.packageAdditions.find(reader.actor) ?? addition;
    return identityPage({ addition: now, entered, known, isReplacement, refused });
  }
}

/** The form of an audience, kept with the package that is being added. */
function audienceStep(domain: Domain) {
  const forms = createAudienceForms(domain);
  const draftOf = ({ actor }: Reader) => domain.governance.drafts.ownOrNew(actor);
  const versionOf = (reader: Reader, addition: Addition) =>
    `${addition.version} ${audienceMark(addition, draftOf(reader))}`;
  const placeOf = (reader: Reader, addition: Addition, sent = versionOf(reader, addition)): AudiencePlace => {
    const { identity, audience } = addition;
    const draft = draftOf(reader);
    const former = ownMember(listAudiences(draft), identity?.id ?? "");
    const isChosenAnew = former !== undefined && addition.audienceRead !== audienceMark(addition, draft);
    const chosen = isChosenAnew ? undefined : audience;
    return {
      title: "Who gets it",
      breadcrumbs: NEW_BREADCRUMBS,
      action: STEPS.audience.path,
      verb: "Continue",
      cancel: STEPS.layout.path,
      version: versionOf(reader, addition),
      audience: chosen ?? former ?? { scope: "organization", user_ids: [] },
      next: { to: STEPS.check.path },
      save: async (wanted) => {
        const [, version = "0", audienceRead = ""] = /^(\d{1,9}) (\w+)$/.exec(sent) ?? [];
        const stated = { version: Number(version), audienceRead };
        return versionOf(reader, await domain.packageAdditions.offer(reader.actor, stated, wanted));
      },
    };
  };
  return {
    show: (reader: Reader, addition: Addition) => forms.show(reader, placeOf(reader, addition)),
    act: (reader: Reader, addition: Addition, fields: Fields) =>
      forms.act(reader, placeOf(reader, addition, fields.version), fields),
  };
}

function checkAgain(domain: Domain, reader: Reader, addition: Addition, refused?: RefusedStep): ConsolePage {
  const whole = completeAddition(addition);
  invariant(whole, "the step is open");
  return checkPage({
    addition: whole,
    draftVersion: domain.governance.drafts.versionOf(reader.actor),
    nextVersion: domain.governance.drafts.nextVersionOf(reader.actor),
    known: inDraft(domain, reader, whole.identity.id),
    refused,
  });
}

async function finish(
  domain: Domain,
  reader: Reader,
  { addition, version }: { addition: Addition; version: string | undefined },
): Promise<ConsolePage | Done> {
  try {
    await domain.packageAdditions.finish(reader.actor, statedIn(version));
    return { to: REVIEW_PATH, notice: "The package is in your draft. Nothing is published yet." };
  } catch (error) {
    return checkAgain(domain, reader, addition, refusedStepOf(error));
  }
}
