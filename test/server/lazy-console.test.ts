// The console is loaded by its first request, once, and again only after a failure.
import { expect, test } from "bun:test";
import { createGuard } from "../../src/server/auth/guard.ts";
import { TokenVerificationLimit } from "../../src/server/auth/token-verification-limit.ts";
import { createLazyConsole } from "../../src/server/lazy-console.ts";
import { createRouter, type Router } from "../../src/server/router.ts";
import { createTestServer } from "../support/server.ts";

test("everything that arrives before the console is loaded is answered", async () => {
  await using site = await createTestServer();
  const paths = [
    "/console",
    "/console/",
    "/console?x=1",
    "/console/users",
    "/assets/console/none.js",
    "/console/none",
  ];
  const responses = await Promise.all(paths.map((path) => site.request("GET", path)));
  expect(responses.map(({ status }) => status)).toEqual([303, 303, 303, 303, 404, 404]);
  expect((await site.request("DELETE", "/console/users")).headers.get("allow")).toBe("GET, HEAD");
});

test.each([
  ["/console", true],
  ["/console?q=x", true],
  ["/console/users", true],
  ["/assets/console/main.js", true],
  ["/consoles", false],
  ["/console-users", false],
  ["/assets/console", false],
  ["/assets/style.css", false],
  ["/x/console", false],
  ["/", false],
  ["/login?next=/console/", false],
])("a request for %s is the console's: %p", (path, isOurs) => {
  const request = new Request(`https://localhost${path}`);
  const options = { newRouter, addRoutes: fail };
  expect(createLazyConsole({ ...options, hasConsole: true }).answers(request)).toBe(isOurs);
  expect(createLazyConsole({ ...options, hasConsole: false }).answers(request)).toBe(false);
});

const request = () => new Request("http://localhost/console/page");
const newRouter = (): Router =>
  createRouter(
    createGuard({
      authenticator: { known: () => undefined, bearer: fail, session: fail },
      verificationLimit: new TokenVerificationLimit({ clock: { nowMs: () => 0 } }),
      baseUrl: () => "http://localhost",
      canReadMetrics: () => false,
      admitProvider: fail,
      admitProxy: fail,
    }),
  );

function fail(): never {
  throw new Error("nothing calls this");
}

test("a failed load rejects every request that waits for it, and the next request tries again", async () => {
  let loads = 0;
  const console = createLazyConsole({
    hasConsole: true,
    newRouter,
    async addRoutes(router) {
      router.get("/console/page", () => "the page");
      loads++;
      await Promise.resolve();
      if (loads === 1) throw new Error("the file is gone");
    },
  });
  const first = await Promise.allSettled([
    console.handle(request()),
    console.handle(request()),
    console.routes(),
  ]);
  expect(first.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(console.loadedRoutes()).toEqual([]);
  expect(await (await console.handle(request())).text()).toBe("the page");
  expect(await (await console.handle(request())).text()).toBe("the page");
  expect(loads).toBe(2);
  expect(console.loadedRoutes()).toHaveLength(1);
});
