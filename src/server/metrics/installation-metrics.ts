// Metrics of the whole installation: program version, readiness, and used and free disk space. They are computed when metrics
// are read.
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { diskSpace, fileSizeOf } from "../../platform/files/disk.ts";
import type { Metrics } from "../../platform/observe/metrics.ts";
import { COMMIT, VERSION } from "../../platform/version.ts";
import { CHECKS, type Readiness } from "../readiness.ts";

interface Installed {
  directory: Pick<DataDirectory, "path" | "database">;
  readiness: Pick<Readiness, "failing">;
}

export function addInstallationFigures(metrics: Metrics, { directory, readiness }: Installed): void {
  const { path, database } = directory;
  metrics
    .gauge("build_info", "Always 1; the labels say what runs", { labels: { version: [], commit: [] } })
    .labels(VERSION, COMMIT)
    .set(1);
  metrics.gauge("ready", "1 where the check holds, as in /ready; 0 where it fails", {
    labels: { check: CHECKS },
    read(set) {
      const failing = readiness.failing();
      for (const check of CHECKS) set(failing.includes(check) ? 0 : 1, check);
    },
  });
  metrics.gauge("db_size_bytes", "Size of the database file", { read: (set) => set(fileSizeOf(database)) });
  metrics.gauge("db_wal_size_bytes", "Size of its write-ahead log, which is emptied into it now and then", {
    read: (set) => set(fileSizeOf(`${database}-wal`)),
  });
  metrics.gauge("disk_size_bytes", "Size of the file system with the data directory", {
    read: (set) => set(diskSpace(path).sizeBytes),
  });
  metrics.gauge("disk_available_bytes", "What is free of it for this service", {
    read: (set) => set(diskSpace(path).availableBytes),
  });
}
