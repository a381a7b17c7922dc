// Operations outside the domain that the API and the console of a running service offer: settings, the checks of doctor, and backup
// files. src/app/operations implements them; the server and its pages use only these types.
import { type Static, Type } from "@sinclair/typebox";
import type { Actor } from "../shared/actor.ts";

const Time = Type.String({ format: "date-time" });
const TimeOrNull = Type.Union([Time, Type.Null()]);
const TextOrNull = Type.Union([Type.String(), Type.Null()]);
const CountOrNull = Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]);

export const Setting = Type.Object({
  key: Type.String(),
  value: Type.String({ description: "In force; a secret is only `set` or `unset`" }),
  origin: Type.String({
    description: "flag, environment, credential, secret file, default, or file with its line",
  }),
  about: Type.String(),
  secret: Type.Boolean(),
  needs_restart: Type.Boolean({ description: "whether a change takes effect only at a restart" }),
});
export type Setting = Static<typeof Setting>;

export const SettingList = Type.Object({ file: TextOrNull, items: Type.Array(Setting) });

const Finding = Type.Object({
  check: Type.String({ description: "Name of the check in snake_case, or of an outside service" }),
  result: Type.Union(["ok", "warning", "failed", "skipped"].map((result) => Type.Literal(result))),
  detail: Type.String(),
  remedy: Type.Union([Type.String(), Type.Null()], { description: "null if there is nothing to fix" }),
});

export interface CheckFinding {
  /** name of the check in snake_case; for an outside service, the name of the service */
  check: string;
  result: "ok" | "warning" | "failed" | "skipped";
  /** what the check found */
  detail: string;
  /** how to fix it; null if there is nothing to fix */
  remedy: string | null;
}

/** The findings of all checks except the deep ones, with their time. */
export interface Diagnosis {
  atMs: number;
  findings: readonly CheckFinding[];
}

export const DiagnosisDocument = Type.Object({
  healthy: Type.Boolean({ description: "whether no check failed" }),
  at: Time,
  checks: Type.Array(Finding),
});

/** All checks, including the deep ones, which administrators request. */
export interface Examination {
  isRunning: boolean;
  /** the last one since the service started */
  last: Diagnosis | undefined;
  /** why the last run has no findings */
  problem: string | null;
}

export const ExaminationDocument = Type.Object({
  state: Type.Union([Type.Literal("running"), Type.Literal("done"), Type.Literal("failed"), Type.Null()], {
    description: "null if it has not been requested since the service started",
  }),
  problem: TextOrNull,
  last: Type.Union([DiagnosisDocument, Type.Null()], {
    description: "the last findings since the service started",
  }),
});

const BackupVerification = Type.Object({
  state: Type.Union(["running", "intact", "damaged"].map((state) => Type.Literal(state))),
  at: Time,
  problem: TextOrNull,
});

export interface BackupCheck {
  state: "running" | "intact" | "damaged";
  /** RFC 3339: when it began or ended */
  at: string;
  problem: string | null;
}

export const BackupFile = Type.Object({
  id: Type.String({ description: "Name of the file" }),
  path: Type.String(),
  kind: Type.String({ description: "manual, scheduled or upgrade" }),
  created_at: TimeOrNull,
  size_bytes: Type.Integer({ minimum: 0 }),
  schema: CountOrNull,
  version: TextOrNull,
  sealing_key_ids: Type.Array(Type.String()),
  problem: TextOrNull,
  verification: Type.Union([BackupVerification, Type.Null()], {
    description: "the last one since the service started",
  }),
});

/** One file in the folder of backups. */
export interface BackupFileView {
  /** name of the file */
  id: string;
  path: string;
  kind: string;
  created_at: string | null;
  size_bytes: number;
  schema: number | null;
  version: string | null;
  sealing_key_ids: readonly string[];
  /** why the file cannot be read */
  problem: string | null;
  verification: BackupCheck | null;
}

export const BackupList = Type.Object({
  folder: Type.String(),
  making: Type.Boolean({ description: "whether a requested backup is running" }),
  failure: Type.Union([Type.Object({ at: Time, detail: Type.String() }), Type.Null()], {
    description: "why the last requested backup failed",
  }),
  items: Type.Array(BackupFile),
});

export interface BackupListView {
  folder: string;
  making: boolean;
  failure: { at: string; detail: string } | null;
  items: readonly BackupFileView[];
}

export interface BackupOperations {
  /** @returns the files in the folder, newest first */
  list(): BackupListView;
  /**
   * Creates a backup and records it.
   * @param idempotencyKey a repeated request with this key waits for the same backup, or returns it
   * @returns the file; undefined if it takes longer than a request may
   * @throws DomainError `backup.*`, `file.*`, `storage.*`, `idempotency.*`
   */
  create(actor: Actor, idempotencyKey?: string): Promise<BackupFileView | undefined>;
  /**
   * Reads a whole backup, like a restore.
   * @param id name of the file
   * @throws DomainError `backup.not_found`
   */
  verify(id: string): Promise<BackupCheck>;
}

/** The running service and the machine below it. Sizes in bytes. */
export interface MachineFacts {
  version: string;
  commit: string;
  schema: number;
  /** UTC milliseconds */
  startedAtMs: number;
  directory: string;
  disk: { sizeBytes: number; availableBytes: number };
  databaseBytes: number;
  /** size of the write-ahead log */
  walBytes: number;
  requestLogBytes: number;
  /** peers that the configuration allows outgoing connections to */
  destinations: readonly { name: string; origin: string; why: string }[];
}

export interface Operations {
  backups: BackupOperations;
  /** @returns every current setting, in the order of the table, and the file, if there is one */
  settings(): { file: string | null; items: Setting[] };
  machine(): MachineFacts;
  /** @returns findings at most a few seconds old, without the deep checks */
  diagnose(): Promise<Diagnosis>;
  /**
   * Runs every check, including the deep ones, unless they are already running.
   * @returns after a few seconds, even if it continues
   */
  examine(): Promise<Examination>;
  /** @returns the state of `examine` */
  examination(): Examination;
}
