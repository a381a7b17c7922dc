// The backups of the installation in the console.
import type { Console, Done } from "../../console/console.ts";
import { BACKUPS_PATH, backupsPage } from "../../console/system/backups.tsx";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../pages/html.ts";
import type { RouteContext } from "../../router.ts";

export function backupPages({ router, operations: { backups } }: RouteContext, console: Console) {
  const action = { needs: "administrator", back: BACKUPS_PATH } as const;
  const done = (notice: NonNullable<Done["notice"]>): Done => ({ to: BACKUPS_PATH, notice });

  return router
    .get(
      BACKUPS_PATH,
      ({ request }) =>
        console.show(request, "administrator", () => backupsPage(backups.list(), crypto.randomUUID())),
      pageRoute("showBackups", "The files in the folder of backups"),
    )
    .post(
      BACKUPS_PATH,
      ({ request, body }) =>
        console.act(request, body, action, async ({ actor }) => {
          const made = await backups.create(actor, body.once);
          return done(
            made ? `Made ${made.id}.` : "The backup takes longer. This page lists it when it is done.",
          );
        }),
      formRoute(
        formOf({ csrf: FormField, by: FormField, once: FormField }),
        formOperation("sendBackup", "Makes a backup now"),
      ),
    )
    .post(
      `${BACKUPS_PATH}/verify`,
      ({ request, body }) =>
        console.act(request, body, action, async () => {
          const { state, problem } = await backups.verify(body.id ?? "");
          if (state === "damaged")
            return done({ kind: "attention", text: `${body.id} is damaged: ${problem}.` });
          return done(
            state === "intact"
              ? `${body.id} is intact.`
              : "The verification continues. This page will show its result.",
          );
        }),
      formRoute(
        formOf({ csrf: FormField, by: FormField, id: FormField }),
        formOperation("sendBackupVerification", "Reads a whole backup as a restore would"),
      ),
    );
}
