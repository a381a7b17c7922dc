// The draft of the reader, or a shared one, as a file, in the format that `policy apply` accepts.
import { Type } from "@sinclair/typebox";
import { LAST_VALID_TEXT, typedProblems } from "../../../../domain/governance/service.ts";
import type { Console } from "../../../console/console.ts";
import { listValues } from "../../../console/list/list.ts";
import { DRAFT_FILE_PATH, reviewPath } from "../../../console/policy/words.ts";
import { operation } from "../../../openapi.ts";
import { seeOther } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";

const HEADERS = {
  "content-type": "application/yaml",
  "content-disposition": 'attachment; filename="policy-draft.yaml"',
  "cache-control": "no-store",
};
const yamlFile = { description: "The file", schema: Type.String(), mediaType: "application/yaml" };

export const draftFilePages = ({ router, domain: { governance } }: RouteContext, console: Console) =>
  router.get(
    DRAFT_FILE_PATH,
    ({ request }) =>
      console.show(request, "administrator", async (reader) => {
        const { draft: reference } = listValues(reader);
        // The file contains the secrets of the draft, which the review hides from readers who may not edit it.
        if (!reader.mayAdminister) return seeOther(reviewPath(reference));
        const { drafts } = governance;
        const draft =
          reference === undefined ? drafts.existing(reader.actor) : drafts.show(reader.actor, reference);
        const note = typedProblems(draft.typed).length > 0 ? `# ${LAST_VALID_TEXT}.\n` : "";
        return new Response(note + (await governance.views.text(draft)), { headers: HEADERS });
      }),
    {
      requires: "nobody",
      detail: operation(
        "downloadPolicyDraft",
        "The reader's draft or a shared one as a file, without audiences",
        {
          tags: ["Console"],
          answers: { 200: yamlFile },
        },
      ),
    },
  );
