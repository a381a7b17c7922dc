// Loads the console for its first request: a service whose console nobody opens needs neither its memory nor its start time.
import { setImmediate } from "node:timers/promises";
import { CONSOLE, CONSOLE_ASSETS_PATH } from "./console/frame/navigation.ts";
import type { DocumentedRoute } from "./openapi.ts";
import type { RouteContext, Router } from "./router.ts";

export interface LazyConsole {
  /** @returns whether the console answers the request; no other route has its paths */
  answers(request: Request): boolean;
  /** Rejects if the console cannot be loaded; the next request tries again. */
  handle(request: Request): Response | Promise<Response>;
  /** Loads the console. @returns its routes */
  routes(): Promise<readonly DocumentedRoute[]>;
  /** @returns its routes; none before it is loaded */
  loadedRoutes(): readonly DocumentedRoute[];
}

interface LazyConsoleOptions {
  hasConsole: boolean;
  /** makes the console's own router, because the other one has already answered requests when the console is loaded */
  newRouter(): Router;
  addRoutes(router: Router): Promise<void>;
}

export function createLazyConsole({ hasConsole, newRouter, addRoutes }: LazyConsoleOptions): LazyConsole {
  let loaded: Router | undefined;
  let loading: Promise<Router> | undefined;

  const load = async (): Promise<Router> => {
    try {
      const router = newRouter();
      if (hasConsole) await addRoutes(router);
      loaded = router;
      return router;
    } finally {
      loading = undefined;
    }
  };
  const router = (): Promise<Router> => {
    loading ??= load(); // requests that arrive meanwhile wait for the same router
    return loading;
  };

  return {
    answers: ({ url }) => hasConsole && isConsoleUrl(url),
    handle: (request) => loaded?.fetch(request) ?? router().then((console) => console.fetch(request)),
    routes: async () => (loaded ?? (await router())).routes,
    loadedRoutes: () => loaded?.routes ?? [],
  };
}

/** Adds all routes of the console. */
export async function addConsoleRoutes(context: RouteContext): Promise<void> {
  const { consoleRoutes } = await import("./routes/console/console-routes.ts");
  await setImmediate(); // other requests run between loading and adding, which each take some milliseconds
  consoleRoutes(context);
}

function isConsoleUrl(url: string): boolean {
  const pathStart = url.indexOf("/", "https://".length);
  if (url.startsWith(`${CONSOLE_ASSETS_PATH}/`, pathStart)) return true;
  const next = url[pathStart + CONSOLE.length];
  return url.startsWith(CONSOLE, pathStart) && (next === undefined || next === "/" || next === "?");
}
