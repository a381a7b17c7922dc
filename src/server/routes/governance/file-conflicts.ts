// Conflicts between the policy and the configuration file: lists both values, and keeps the values of the policy. To
// take a value of the file, save the draft (policy-draft.ts).
import { Type } from "@sinclair/typebox";
import { actorOf } from "../../http/exchange.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const Version = Type.String({ description: "Changes as soon as a value or a place changes" });
const DeploymentConflicts = Type.Object({
  version: Version,
  total: Type.Integer({ description: "The total number" }),
  conflicts: Type.Array(
    Type.Object({
      path: Type.String({ description: "Entries of lists are identified by id or name" }),
      policy: Type.Optional(Type.Unknown({ description: "Value in force; omitted if there is none" })),
      file: Type.Optional(Type.Unknown({ description: "Value of the file; omitted if there is none" })),
    }),
  ),
});
const KeepPolicy = Type.Object(
  {
    version: Type.String({ description: "The version that the author read" }),
    paths: Type.Array(Type.String(), { minItems: 1 }),
  },
  { additionalProperties: false },
);

const documented = operationsOf("Administration");
const answered = { 200: { description: "Places that differ", schema: DeploymentConflicts } };
const described = {
  read: documented("getDeploymentConflicts", "Conflicts between the policy and the configuration file", {
    ...answered,
  }),
  keep: documented("keepDeploymentConflicts", "Keep the values of the policy, until the file changes there", {
    ...answered,
    404: { description: "`policy_conflict.none`: one of the places has no conflict" },
    409: { description: "`policy_conflict.changed`: a value has changed since that version" },
  }),
};

export function fileConflictRoutes({ router, domain: { governance } }: RouteContext) {
  const { fileConflicts } = governance;
  return router
    .get(
      "/admin/governance-config/deployment-conflicts",
      async ({ request }) => json(await fileConflicts.list(actorOf(request).organizationId)),
      { requires: "administrator", detail: described.read },
    )
    .post(
      "/admin/governance-config/deployment-conflicts/keep",
      async ({ request, body }) => {
        const actor = actorOf(request);
        await fileConflicts.keep(actor, body);
        return json(await fileConflicts.list(actor.organizationId));
      },
      { requires: "administrator", accepts: "json", body: KeepPolicy, detail: described.keep },
    );
}
