// API for the running installation: its settings, the checks of doctor, and its backups. Only the command line can
// restore, because the service must be stopped during a restore.
import { Type } from "@sinclair/typebox";
import {
  BackupFile,
  BackupList,
  type Diagnosis,
  DiagnosisDocument,
  type Examination,
  ExaminationDocument,
  SettingList,
} from "../../../domain/system/operations.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import { actorOf } from "../../http/exchange.ts";
import { withHeaders } from "../../http/header-parameters.ts";
import { IDEMPOTENCY_KEY, idempotencyKeyOf } from "../../http/idempotency.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const BackupPath = Type.Object({ id: Type.String() });
const Started = Type.Object({ state: Type.Literal("running") });

const describe = operationsOf("Administration");
const described = {
  settings: describe("listSettings", "Every setting in force and where it comes from", {
    200: { description: "Settings; secrets only as set or unset", schema: SettingList },
  }),
  doctor: describe(
    "getDiagnosis",
    "The findings of all checks except the deep ones, at most some seconds old",
    {
      200: { description: "Findings", schema: DiagnosisDocument },
    },
  ),
  examine: describe("examineInstallation", "Run all checks, including the deep ones, in the background", {
    200: { description: "The findings", schema: ExaminationDocument },
    202: { description: "The run continues; read its state", schema: ExaminationDocument },
  }),
  examination: describe("getExamination", "The state and the findings of the last run of every check", {
    200: { description: "State and findings", schema: ExaminationDocument },
  }),
  backups: describe("listBackups", "The files in the folder of backups, newest first", {
    200: { description: "Backups", schema: BackupList },
  }),
  create: withHeaders(
    describe("createBackup", "Make a backup now", {
      201: { description: "Made", schema: BackupFile },
      202: { description: "The backup continues; the list contains it when it is finished", schema: Started },
      409: { description: "Another backup is in progress" },
      503: { description: "The disk is full, or the service is stopping" },
    }),
    IDEMPOTENCY_KEY,
  ),
  verify: describe("verifyBackup", "Verify a backup completely, as before a restore", {
    200: {
      description: "The result; `running` if it takes longer",
      schema: BackupFile.properties.verification,
    },
  }),
};

export function installationRoutes({ router, operations }: RouteContext) {
  const { backups } = operations;

  return router
    .get("/admin/settings", () => json(operations.settings()), {
      requires: "administrator",
      detail: described.settings,
    })
    .get(
      "/admin/doctor",
      async () => {
        return json(toDiagnosis(await operations.diagnose()));
      },
      { requires: "administrator", detail: described.doctor },
    )
    .get("/admin/doctor/examination", () => json(toExamination(operations.examination())), {
      requires: "administrator",
      detail: described.examination,
    })
    .post(
      "/admin/doctor/examination",
      async () => {
        const examination = await operations.examine();
        return json(toExamination(examination), { status: examination.isRunning ? 202 : 200 });
      },
      { requires: "administrator", accepts: "nothing", detail: described.examine },
    )
    .get("/admin/backups", () => json(backups.list()), {
      requires: "administrator",
      detail: described.backups,
    })
    .post(
      "/admin/backups",
      async ({ request }) => {
        const made = await backups.create(actorOf(request), idempotencyKeyOf(request));
        return made ? json(made, { status: 201 }) : json({ state: "running" }, { status: 202 });
      },
      { requires: "administrator", accepts: "nothing", detail: described.create },
    )
    .post("/admin/backups/:id/verify", async ({ params }) => json(await backups.verify(params.id)), {
      requires: "administrator",
      accepts: "nothing",
      params: BackupPath,
      detail: described.verify,
    });
}

const toDiagnosis = ({ atMs, findings }: Diagnosis) => ({
  healthy: findings.every(({ result }) => result !== "failed"),
  at: toRfc3339(atMs),
  checks: findings,
});

const toExamination = ({ isRunning, last, problem }: Examination) => ({
  state: isRunning ? "running" : problem !== null ? "failed" : last ? "done" : null,
  problem,
  last: last ? toDiagnosis(last) : null,
});
