// `sessions list` and `sessions show`.
import type { SessionView, Viewer } from "../../../src/domain/sessions/service.ts";
import type { Page } from "../../../src/domain/shared/page.ts";
import { runSynchronously } from "../../../src/platform/steps.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { printPages } from "../../output/list-pages.ts";
import { detailDocument, detailText, SESSION_COLUMNS, sessionDocument } from "./view.ts";

/** @returns the operator, who may see what administrators see */
export const operatorAsViewer = ({ actor }: Pick<Call, "actor">): Viewer => ({
  userId: "",
  organizationId: actor.organizationId,
  isAdministrator: true,
});

export async function list(call: Call): Promise<void> {
  const { domain, actor, text } = call;
  const owner = text("user");
  const wanted = {
    userId: owner === undefined ? undefined : domain.identity.users.find(actor.organizationId, owner).id,
    harness: text("harness"),
    status: text("status"),
    updated: { from: text("updatedFrom"), to: text("updatedTo") },
  };
  await printPages(
    call,
    (query): Page<SessionView> => {
      const page = runSynchronously(
        domain.sessions.lists.list(operatorAsViewer(call), { page: 1, ...wanted, ...query }),
      );
      if (page.mode !== "numbered") throw new Error("a query with a page has numbered pages");
      return page;
    },
    { columns: SESSION_COLUMNS, json: sessionDocument, empty: "no captured sessions" },
  );
}

export async function show(call: Call): Promise<void> {
  const { domain, output, args } = call;
  const [id = ""] = args;
  const viewer = operatorAsViewer(call);
  const detail = runSynchronously(domain.sessions.detail(viewer, id));
  const { recipients } = runSynchronously(domain.sessions.sharing.show(viewer, id));
  output.result(detailDocument(detail, recipients), detailText(detail, recipients));
}
