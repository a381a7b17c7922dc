// The audience of a package of the policy in the console.

import { listAudiences } from "../../../../domain/governance/delivery/audiences.ts";
import { DomainError } from "../../../../platform/errors.ts";
import { ownMember } from "../../../../platform/json/json-object.ts";
import type { Console } from "../../../console/console.ts";
import { audiencePath, PACKAGES_PATH, packagePath } from "../../../console/packages/words.ts";
import { statedBody, statedIn, versionText } from "../../../console/parts/stated-version.ts";
import { REVIEW_PATH } from "../../../console/policy/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { formOperation, pageRoute, uploadRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { type AudiencePlace, createAudienceForms } from "./audience-form.ts";

const SAVED = "The draft is saved. Nothing is published yet.";

export function audiencePages({ router, domain }: RouteContext, console: Console) {
  const forms = createAudienceForms(domain);
  const place = placeIn(domain);
  return router
    .get(
      `${PACKAGES_PATH}/:id/audience`,
      ({ request, params: { id } }) =>
        console.show(request, "administrator", (reader) => forms.show(reader, place(reader, id))),
      pageRoute("showPackageAudience", "Who gets a package"),
    )
    .post(
      `${PACKAGES_PATH}/:id/audience`,
      ({ request, params: { id } }) =>
        console.actLong(request, { needs: "administrator", back: audiencePath(id) }, (reader, fields) =>
          forms.act(reader, place(reader, id, fields.version), fields),
        ),
      uploadRoute(formOperation("sendPackageAudience", "Saves the audience of a package in the draft")),
    );
}

const placeIn =
  ({ governance: { drafts } }: RouteContext["domain"]) =>
  ({ actor }: Reader, id: string, stated?: string): AudiencePlace => {
    const draft = drafts.ownOrNew(actor);
    const managed = draft.document.packages.find((one) => one.id === id);
    const audience = ownMember(listAudiences(draft), id);
    if (!managed || !audience) throw noSuchPackage(id);
    const read = stated === undefined ? draft : statedIn(stated);
    return {
      title: `Who gets ${managed.name ?? id}`,
      breadcrumbs: [
        { href: PACKAGES_PATH, label: "Packages" },
        { href: packagePath(id), label: managed.name ?? id },
      ],
      action: audiencePath(id),
      verb: "Save and review",
      cancel: packagePath(id),
      version: versionText(draft),
      audience,
      next: { to: REVIEW_PATH, notice: SAVED },
      save: async (wanted) => versionText(await drafts.audience(actor, read, id, wanted)),
      api: {
        method: "PUT",
        path: "/admin/policy-draft",
        body: { ...statedBody(versionText(draft)), package: { id, audience } },
      },
    };
  };

const noSuchPackage = (id: string): DomainError =>
  new DomainError("not_found", "package.not_found", `neither the policy nor your draft has a package ${id}`);
