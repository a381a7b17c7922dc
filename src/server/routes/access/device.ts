// JSON routes for the decision on a device login, authenticated by the browser's cookie: by link and by user code.
// device-pages.ts has the HTML pages; the access area decides who may approve.
import { Type } from "@sinclair/typebox";
import { ISSUER_PATH } from "../../../domain/access/wire.ts";
import { invariant } from "../../../platform/errors.ts";
import { refuseForeignPage } from "../../auth/guard.ts";
import { actorOf, principalOf } from "../../http/exchange.ts";
import { failureOf, HttpError } from "../../http/problems/problem.ts";
import { noStore } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import { type Decision, readDecision } from "../../pages/device-login/approvals.ts";
import type { RouteContext } from "../../router.ts";

const Action = Type.Object(
  { action: Type.String({ description: "`approve` or `deny`" }) },
  { additionalProperties: false },
);
/** Routes below the issuer ignore unknown members, so that newer clients keep working. */
const UserCode = Type.Object({ userCode: Type.String() }, { additionalProperties: true });

const Pending = Type.Object({ user_code: Type.String(), status: Type.Literal("pending") });
const Success = Type.Object({ success: Type.Literal(true) });

const documented = operationsOf("Device login");
const unavailable = { 400: { description: "Unknown, expired, already decided, or claimed by another user" } };
const pending = { 200: { description: "Waiting for a decision", schema: Pending }, ...unavailable };
const decided = { 200: { description: "Decided", schema: Success }, ...unavailable };
const described = {
  claimByLink: documented("claimDeviceLogin", "Bind the device login of a link to its visitor", pending),
  decideByLink: documented("decideDeviceLogin", "Approve or refuse the device login of a link", decided),
  claimByCode: documented("claimUserCode", "Bind the device login of a user code to the caller", pending),
  approveCode: documented("approveUserCode", "Approve the device login of a user code", decided),
  denyCode: documented("denyUserCode", "Refuse the device login of a user code", decided),
};

export function deviceRoutes({ router, domain, baseUrl }: RouteContext) {
  const { deviceLogins } = domain.access;
  const decideCode = async (request: Request, userCode: string, decision: Decision["decision"]) => {
    const choice = { userCode, decision, loginSessionId: loginSessionOf(request) };
    await asBadRequest(deviceLogins.decideByUserCode(actorOf(request), choice));
    return noStore({ success: true });
  };

  return router
    .get(
      "/api/device/:token",
      async ({ request, params }) => {
        refuseForeignPage(request, baseUrl());
        const { userCode } = await asBadRequest(deviceLogins.claim(actorOf(request), params.token));
        return noStore({ user_code: userCode, status: "pending" });
      },
      { requires: "session", detail: described.claimByLink },
    )
    .post(
      "/api/device/:token",
      async ({ request, params, body }) => {
        const decision = { decision: readDecision(body.action), loginSessionId: loginSessionOf(request) };
        await asBadRequest(deviceLogins.decide(actorOf(request), { ...decision, linkToken: params.token }));
        return noStore({ success: true });
      },
      { requires: "session", accepts: "json", body: Action, detail: described.decideByLink },
    )
    .get(
      `${ISSUER_PATH}/device`,
      async ({ request, query }) => {
        refuseForeignPage(request, baseUrl()); // a lookup counts as a guess
        const claim = deviceLogins.claimByUserCode(actorOf(request), query.user_code);
        return noStore({ user_code: (await asBadRequest(claim)).userCode, status: "pending" });
      },
      {
        requires: "session",
        query: Type.Object({ user_code: Type.String() }),
        detail: described.claimByCode,
      },
    )
    .post(
      `${ISSUER_PATH}/device/approve`,
      ({ request, body }) => decideCode(request, body.userCode, "approve"),
      { requires: "session", accepts: "json", body: UserCode, detail: described.approveCode },
    )
    .post(`${ISSUER_PATH}/device/deny`, ({ request, body }) => decideCode(request, body.userCode, "refuse"), {
      requires: "session",
      accepts: "json",
      body: UserCode,
      detail: described.denyCode,
    });
}

/** The contract requires 400 for every device login that cannot be decided. */
async function asBadRequest<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const failure = failureOf(error);
    if (!failure?.reason.startsWith("device_login.")) throw error;
    throw new HttpError(400, failure.reason, failure.message);
  }
}

function loginSessionOf(request: Request): string {
  const { sessionId } = principalOf(request);
  invariant(sessionId, "the guard admits sessions only");
  return sessionId;
}
