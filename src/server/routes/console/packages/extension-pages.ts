// The pages about packages and the catalog.
import type { Console } from "../../../console/console.ts";
import type { RouteContext } from "../../../router.ts";
import { audiencePages } from "./audience-pages.ts";
import { catalogEntryPages, catalogPages } from "./catalog-pages.ts";
import { connectionPages } from "./connection-pages.ts";
import { importPages } from "./import-pages.ts";
import { newPackagePages } from "./new/new-package-pages.ts";
import { packageActionPages, packageRemovalPages } from "./package-action-pages.ts";
import { packagePages } from "./package-pages.ts";

export function extensionPages(context: RouteContext, console: Console): void {
  packagePages(context, console);
  newPackagePages(context, console);
  packageActionPages(context, console);
  packageRemovalPages(context, console);
  catalogPages(context, console);
  importPages(context, console);
  connectionPages(context, console);
  catalogEntryPages(context, console);
  audiencePages(context, console);
}
