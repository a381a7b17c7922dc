// The page about gateway mode, and its form, which checks the proxy's health and shows the page again.
import type { ProxyHealth } from "../../../../domain/gateway/inference/proxy-health.ts";
import type { GatewayStatus } from "../../../../domain/gateway/status.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import { type Console, readerPrincipal } from "../../../console/console.ts";
import { featureOffPage } from "../../../console/frame/refusals.tsx";
import { gatewayPage } from "../../../console/gateway/gateway-page.tsx";
import { GATEWAY_PATH } from "../../../console/gateway/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { gatewayStatusOf, healthOf } from "../../gateway/gateway-status.ts";

/** The default for a policy without a gateway and agents. */
const NO_POLICY = { allowed_harnesses: [] };

export function gatewayPages(context: RouteContext, console: Console) {
  const { gateway, governance } = context.domain;

  const checked = async ({ proxy }: GatewayStatus, reader: Reader): Promise<ProxyHealth | undefined> =>
    proxy?.mode === "off"
      ? undefined
      : await healthOf(context, {
          caller: readerPrincipal(reader),
          withUpstream: proxy?.mode === "in-process",
        });

  const pageOf = async (reader: Reader, isAsked: boolean) => {
    if (!console.has("gateway")) return featureOffPage("Gateway", { setting: "gateway.type", reader });
    const policy = governance.revisions.current(reader.organizationId)?.document ?? NO_POLICY;
    const status = gatewayStatusOf(context, policy);
    const [health, figures] = await Promise.all([
      isAsked ? checked(status, reader) : undefined,
      runInTurns(gateway.figuresInSteps()),
    ]);
    return gatewayPage({ status, health, figures, failures: gateway.problems() });
  };

  return context.router
    .get(
      GATEWAY_PATH,
      ({ request }) => console.show(request, "administrator", (reader) => pageOf(reader, false)),
      pageRoute("showGatewayPage", "Gateway mode: forwarding, health and keys"),
    )
    .post(
      GATEWAY_PATH,
      ({ request, body }) => {
        const question = { needs: "administrator", back: GATEWAY_PATH, isQuestion: true } as const;
        return console.act(request, body, question, (reader) => pageOf(reader, true));
      },
      formRoute(
        formOf({ csrf: FormField, by: FormField }),
        formOperation("sendGatewayCheck", "Checks the health of the proxy and shows the page with it"),
      ),
    );
}
