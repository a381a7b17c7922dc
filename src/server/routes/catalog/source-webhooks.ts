// Webhooks of the company's git hosts, which announce new commits. The domain authenticates the sender; the body is ignored.
import { Type } from "@sinclair/typebox";
import { countedAddress } from "../../../domain/access/budgets/counted-address.ts";
import { WEBHOOK_PATH } from "../../../domain/catalog/service.ts";
import { DomainError } from "../../../platform/errors.ts";
import { createRates, type RateLimit } from "../../../platform/rate-limit.ts";
import { readBytes } from "../../http/bodies/body-text.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

/** Size limit of the body, in bytes. The signature covers the whole body. */
export const WEBHOOK_BYTES_MAX = 1024 ** 2;
/** Limit on webhooks from one address. */
export const WEBHOOKS: RateLimit = { perSecond: 5, burst: 60 };

const operation = operationsOf("Administration");

export function sourceWebhookRoutes({ router, domain, clock }: RouteContext) {
  const { identity, sourceWebhooks } = domain;
  const rates = createRates(clock, WEBHOOKS);
  return router.post(
    `${WEBHOOK_PATH}/:connectionId`,
    async ({ request, params: { connectionId } }) => {
      const seconds = rates.take(countedAddress(exchangeOf(request).address));
      if (seconds > 0) throw tooManyWebhooks(seconds);
      await sourceWebhooks.receive(identity.organization()?.id ?? "", {
        connectionId,
        signature: signatureIn(request.headers),
        token: request.headers.get("x-gitlab-token") ?? undefined,
        body: () => readBytes(request, WEBHOOK_BYTES_MAX),
      });
      return new Response(null, { status: 204 });
    },
    {
      requires: "nobody",
      accepts: "bytes",
      params: Type.Object({ connectionId: Type.String() }),
      detail: operation(
        "announceSourceChange",
        "Announce a change at a git host: the service checks for newer commits soon",
        {
          204: { description: "The branches and tags of the connection are checked soon" },
          403: { description: "The signature or the token is not valid" },
          404: { description: "No such connection, or it expects no webhooks" },
          413: { description: `The body has more than ${WEBHOOK_BYTES_MAX} bytes` },
          429: { description: "Too many webhooks from this network address" },
          503: {
            description: "The service started without connections to watch; restart it",
          },
        },
      ),
    },
  );
}

/** GitHub, newer Gitea and Forgejo; Bitbucket; older Gitea. The first two name the function before the signature. */
const SIGNATURE_HEADERS = ["x-hub-signature-256", "x-hub-signature", "x-gitea-signature"];

function signatureIn(headers: Headers): string | undefined {
  const given = SIGNATURE_HEADERS.map((name) => headers.get(name)).find((value) => value !== null);
  return given?.replace(/^sha256=/i, "");
}

const tooManyWebhooks = (retryAfterSeconds: number) =>
  new DomainError("too_many", "access.too_many_attempts", "too many webhooks from this network address", {
    retryAfterSeconds,
  });
