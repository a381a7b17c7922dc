// The pages about packages and the catalog.
import { Elysia } from "elysia";
import type { Console } from "../../../console/console.ts";
import type { RouteContext } from "../../../router.ts";
import { audiencePages } from "./audience-pages.ts";
import { catalogEntryPages, catalogPages } from "./catalog-pages.ts";
import { packageActionPages, packageRemovalPages } from "./package-action-pages.ts";
import { packagePages } from "./package-pages.ts";

export const extensionPages = (context: RouteContext, console: Console) =>
  new Elysia({ name: "routes/console-extensions" })
    .use(packagePages(context, console))
    .use(packageActionPages(context, console))
    .use(packageRemovalPages(context, console))
    .use(catalogPages(context, console))
    .use(catalogEntryPages(context, console))
    .use(audiencePages(context, console));
