// Pages about the reader: the first page, the policy, and workstations. Everybody may open them.
import { HARNESS_KEYS, isHarnessKey } from "../../../../domain/harnesses/harnesses.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import type { Console } from "../../../console/console.ts";
import { found, lastPageAddress, listValues, placeIn } from "../../../console/list/list.ts";
import { mePage } from "../../../console/own/me.tsx";
import { ownPolicyPage } from "../../../console/own/own-policy.tsx";
import { ownWorkstationsPage, signOutWorkstationPage } from "../../../console/own/own-workstations.tsx";
import { ME_PATH, OWN_POLICY_PATH, OWN_WORKSTATIONS_PATH } from "../../../console/own/words.ts";
import { EXPLAINED_ROWS_MAX } from "../../../console/parts/not-shown.tsx";
import { isHiddenFrom } from "../../../console/policy/hidden-values.tsx";
import type { Reader } from "../../../console/reader.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute, seeOther } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { withSequences } from "../fleet-lists.ts";

/** Number of workstations on the first page. */
const WORKSTATIONS_SHOWN = 5;

/** @returns the first page of a member */
export function mePages({ router, domain }: RouteContext, console: Console) {
  const { clients, governance, gateway, access, sessions } = domain;

  const showMe = async ({ organizationId, actor, visitor }: Reader) => {
    const { userId, email } = visitor.principal;
    const seen = { userId, page: 1, perPage: WORKSTATIONS_SHOWN };
    const { loginSessions: browsers, grants: signedIn } = access.ownLogins.count(actor);
    return mePage({
      policy: governance.summarize(organizationId, userId),
      workstations: await runInTurns(clients.inventory.summaries(organizationId, seen)),
      key: gateway.mode && gateway.keys.status({ id: userId, email }),
      browsers,
      signedIn,
      sessions: sessions.lists.countOwn({ organizationId, userId }),
    });
  };

  return router.get(
    ME_PATH,
    ({ request }) => console.show(request, "anyone", showMe),
    pageRoute("showOwnPage", "The reader's policy, workstations, key, logins and sessions"),
  );
}

export const ownPolicyPages = ({ router, domain }: RouteContext, console: Console) =>
  router.get(
    OWN_POLICY_PATH,
    ({ request }) =>
      console.show(request, "anyone", async (reader) => {
        const { userId, email } = reader.visitor.principal;
        const policy = domain.governance.summarize(reader.organizationId, userId);
        const { harness = policy?.allowed[0] ?? HARNESS_KEYS[0], installed } = listValues(reader);
        const choice = { email, harness, installed, explanation: undefined };
        if (!policy) return ownPolicyPage(choice);
        const question = { userId, harness, version: installed };
        const { rows: explanation, problems } = await found(() =>
          domain.governance.explain(reader.actor, question),
        );
        const pointer = isHarnessKey(harness) ? "/installed" : "/harness";
        const wrong = problems?.map(({ detail }) => ({ pointer, detail }));
        const places = explanation?.values
          .slice(0, EXPLAINED_ROWS_MAX)
          .map(({ pointer: path, value }) => ({ path, value }));
        const shown =
          places &&
          (await domain.governance.views.shownPlaces(places, {
            isHidden: isHiddenFrom(reader),
            isInWords: true,
          }));
        return ownPolicyPage({ ...choice, explanation, shown, problems: wrong });
      }),
    pageRoute("showOwnPolicy", "The effect of the policy on the reader"),
  );

export function ownWorkstationPages({ router, domain }: RouteContext, console: Console) {
  const { inventory } = domain.clients;
  const { ownLogins } = domain.access;
  const path = `${OWN_WORKSTATIONS_PATH}/:id/sign-out`;
  const ownClient = ({ organizationId, visitor }: Reader, id: string) =>
    inventory.ownById(organizationId, { id, userId: visitor.principal.userId });

  return router
    .get(
      OWN_WORKSTATIONS_PATH,
      ({ request }) =>
        console.show(request, "anyone", async (reader) => {
          const values = listValues(reader);
          const { userId, email } = reader.visitor.principal;
          const query = { userId, health: values.health, ...placeIn(values) };
          const { rows, problems } = await found(() =>
            runInTurns(inventory.listInSteps(reader.organizationId, query)),
          );
          if (!rows) return ownWorkstationsPage({ email, values, page: undefined, problems });
          const last = lastPageAddress(reader, rows);
          if (last !== undefined) return seeOther(last);
          const grantIds = rows.items.flatMap(({ grantId }) => grantId ?? []);
          const live = ownLogins.liveGrants(reader.actor, grantIds);
          const items = rows.items.map(withSequences(domain, reader.organizationId)).map((client) => ({
            ...client,
            isSignedIn: client.grantId !== null && live.has(client.grantId),
          }));
          return ownWorkstationsPage({ email, values, page: { ...rows, items } });
        }),
      pageRoute("showOwnWorkstations", "The reader's workstations as a list"),
    )
    .get(
      path,
      ({ request, params }) =>
        console.show(request, "anyone", (reader) => signOutWorkstationPage(ownClient(reader, params.id))),
      pageRoute("showSignOutWorkstation", "Asks before a workstation is signed out"),
    )
    .post(
      path,
      ({ request, params, body }) =>
        console.act(request, body, { needs: "anyone", back: OWN_WORKSTATIONS_PATH }, async (reader) => {
          const { grantId, loginSessionId, hostname, instanceId } = ownClient(reader, params.id);
          await ownLogins.end(reader.actor, grantId ?? loginSessionId);
          return { to: OWN_WORKSTATIONS_PATH, notice: `${hostname ?? instanceId} is signed out.` };
        }),
      formRoute(
        formOf({ csrf: FormField, by: FormField }),
        formOperation("sendSignOutWorkstation", "Ends the login of a workstation of the reader"),
      ),
    );
}
