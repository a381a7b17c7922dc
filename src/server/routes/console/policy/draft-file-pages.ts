// The draft of the reader as a file, in the format that `policy apply` accepts.
import { Type } from "@sinclair/typebox";
import { LAST_VALID_TEXT, typedProblems } from "../../../../domain/governance/service.ts";
import type { Console } from "../../../console/console.ts";
import { DRAFT_FILE_PATH } from "../../../console/policy/words.ts";
import { operation } from "../../../openapi.ts";
import type { RouteContext } from "../../../router.ts";

const HEADERS = {
  "content-type": "application/yaml",
  "content-disposition": 'attachment; filename="policy-draft.yaml"',
  "cache-control": "no-store",
};
const yamlFile = { description: "The file", schema: Type.String(), mediaType: "application/yaml" };

/** @returns the file of the draft */
export const draftFilePages = ({ router, domain: { governance } }: RouteContext, console: Console) =>
  router.get(
    DRAFT_FILE_PATH,
    ({ request }) =>
      console.show(request, "administrator", async ({ actor }) => {
        const draft = governance.drafts.existing(actor);
        const note = typedProblems(draft.typed).length > 0 ? `# ${LAST_VALID_TEXT}.\n` : "";
        return new Response(note + (await governance.views.text(draft)), { headers: HEADERS });
      }),
    {
      requires: "nobody",
      detail: operation("downloadPolicyDraft", "The own draft as a file, without audiences", {
        tags: ["Console"],
        answers: { 200: yamlFile },
      }),
    },
  );
