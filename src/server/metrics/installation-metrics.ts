// Metrics of the whole installation: program version, readiness, and used and free disk space. They are computed when metrics
// are read.
import { Gauge, type Registry } from "prom-client";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { diskSpace, fileSizeOf } from "../../platform/files/disk.ts";
import { DiskReserve } from "../../platform/files/disk-reserve.ts";
import { COMMIT, VERSION } from "../../platform/version.ts";
import { CHECKS, type Readiness } from "../readiness.ts";

interface Installed {
  directory: Pick<DataDirectory, "path" | "database" | "reserve">;
  readiness: Pick<Readiness, "failing">;
}

export function addInstallationMetrics(metrics: Registry, { directory, readiness }: Installed): void {
  const { path, database, reserve } = directory;
  const registers = [metrics];
  new Gauge({
    name: "quartermaster_build_info",
    help: "Always 1; the labels describe the running program",
    labelNames: ["version", "commit"],
    registers,
  }).set({ version: VERSION, commit: COMMIT }, 1);
  new Gauge({
    name: "quartermaster_ready",
    help: "1 if the check passes, as in /ready; 0 if it fails",
    labelNames: ["check"],
    registers,
    collect() {
      const failing = readiness.failing();
      for (const check of CHECKS) this.set({ check }, failing.includes(check) ? 0 : 1);
    },
  });
  new Gauge({
    name: "quartermaster_db_size_bytes",
    help: "Size of the database file",
    registers,
    collect() {
      this.set(fileSizeOf(database));
    },
  });
  new Gauge({
    name: "quartermaster_db_wal_size_bytes",
    help: "Size of the write-ahead log, which is copied into the database from time to time",
    registers,
    collect() {
      this.set(fileSizeOf(`${database}-wal`));
    },
  });
  new Gauge({
    name: "quartermaster_disk_size_bytes",
    help: "Size of the file system with the data directory",
    registers,
    collect() {
      this.set(diskSpace(path).sizeBytes);
    },
  });
  new Gauge({
    name: "quartermaster_disk_available_bytes",
    help: "Free space that this service may use",
    registers,
    collect() {
      this.set(diskSpace(path).availableBytes);
    },
  });
  new Gauge({
    name: "quartermaster_disk_reserve_bytes",
    help: "Space that is kept for sign-ins and deletions on a full disk; it shrinks while they use it",
    registers,
    collect() {
      this.set(new DiskReserve(reserve).bytes);
    },
  });
}
