// The server of guard.ts, in a separate process: the same route behind the product's guard and without a guard. Arguments: a data
// directory, and the port of the service that issued its tokens.
import "../../../src/platform/production.ts";
import { Elysia } from "elysia";
import { systemClock } from "../../../src/platform/clock.ts";
import { createGuard } from "../../../src/server/auth/guard.ts";
import { TokenVerificationLimit } from "../../../src/server/auth/token-verification-limit.ts";
import { BODY_TIMES } from "../../../src/server/http/bodies/body-end.ts";
import { type Exchange, openExchange } from "../../../src/server/http/exchange.ts";
import { plainText } from "../../../src/server/http/responses.ts";
import { createRouter } from "../../../src/server/router.ts";
import { openBeside } from "../tools/installation.ts";

const [directory = "", issuerPort = ""] = process.argv.slice(2);
const { domain } = await openBeside(directory, Number(issuerPort));
const guard = createGuard({
  authenticator: domain.access.authenticator,
  verificationLimit: new TokenVerificationLimit({ clock: systemClock }),
  baseUrl: domain.access.settings.baseUrl,
  canReadMetrics: () => false,
  admitProvider: () => {},
  admitProxy: () => {},
});
const guarded = createRouter(guard)
  .get("/guarded", () => plainText("ok"), { requires: "administrator" })
  .get("/guarded/anyone", () => plainText("ok"), { requires: "governance:read" })
  .post("/guarded", () => plainText("ok"), { requires: "governance:read", accepts: "json-or-nothing" });
const open = new Elysia().get("/open", () => plainText("ok"));
const app = new Elysia().use(open).use(guarded);

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    const exchange: Exchange = {
      requestId: "bench",
      address: null,
      forwarding: "none",
      route: undefined,
      principal: undefined,
      scim: undefined,
      isAdmitted: false,
      bodyTimes: BODY_TIMES,
    };
    openExchange(request, exchange);
    return app.fetch(request);
  },
});
console.log(server.url.origin);
