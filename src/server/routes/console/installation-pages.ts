// Read-only pages about the running installation: its checks, its settings, and its configuration as a file.
import { Value } from "@sinclair/typebox/value";
import { DeploymentConfigExport } from "../../../domain/governance/reading/admin-view.ts";
import type { Console } from "../../console/console.ts";
import { EXAMINATION_PATH, installationPage, SYSTEM_PATH } from "../../console/system/installation.tsx";
import { EXPORT_PATH, exportPage, SETTINGS_PATH, settingsPage } from "../../console/system/settings.tsx";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../pages/html.ts";
import type { RouteContext } from "../../router.ts";

export function installationPages(context: RouteContext, console: Console) {
  const { router, operations, domain, configuration } = context;
  const { sourceWatch } = domain;
  const { views, revisions } = domain.governance;

  /** @returns the export of the policy in force; undefined if none is published */
  const exportedOf = async (organizationId: string) => {
    if (revisions.current(organizationId) === undefined) return undefined;
    const bytes = await views.exported(
      revisions.inForce(organizationId),
      await configuration(),
      sourceWatch.managedSources(organizationId),
    );
    return Value.Parse(DeploymentConfigExport, JSON.parse(Buffer.from(bytes).toString()));
  };

  return router
    .get(
      SYSTEM_PATH,
      ({ request }) =>
        console.show(request, "administrator", async () =>
          installationPage({
            diagnosis: await operations.diagnose(),
            examination: operations.examination(),
            machine: operations.machine(),
          }),
        ),
      pageRoute("showInstallation", "Checks, service, disk and outgoing connections"),
    )
    .post(
      EXAMINATION_PATH,
      ({ request, body }) =>
        console.act(request, body, { needs: "administrator", back: SYSTEM_PATH }, async () => {
          const { isRunning, problem } = await operations.examine();
          if (!isRunning && problem !== null)
            return { to: SYSTEM_PATH, notice: { kind: "attention", text: "The checks could not run." } };
          return {
            to: SYSTEM_PATH,
            notice: isRunning
              ? "The checks continue. This page will show their findings."
              : "All checks have run.",
          };
        }),
      formRoute(
        formOf({ csrf: FormField, by: FormField }),
        formOperation("sendExamination", "Runs every check of the installation"),
      ),
    )
    .get(
      SETTINGS_PATH,
      ({ request }) => console.show(request, "administrator", () => settingsPage(operations.settings())),
      pageRoute("showSettings", "Every setting in force and where it comes from"),
    )
    .get(
      EXPORT_PATH,
      ({ request }) =>
        console.show(request, "administrator", async ({ organizationId }) =>
          exportPage(await exportedOf(organizationId)),
        ),
      pageRoute("showConfigurationExport", "The configuration as a file, without its secrets"),
    );
}
