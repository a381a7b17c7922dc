// The installation: checks, jobs, backups, keys, settings, export, branding, and the audit log.
import { addJob } from "../../../../src/platform/scheduler/store.ts";
import type { Area } from "../scenes.ts";

export const systemArea: Area = {
  async seed({ server: { world } }) {
    await world.db.write((tx) => addJob(tx, "access-sweep", world.clock.nowMs() + 3_600_000));
  },
  scenes: [
    { title: "Entry 2", open: "/console/audit/2" },
    { title: "Installation", open: "/console/system" },
    { title: "Jobs", open: "/console/system/jobs" },
    { title: "Jobs", state: "as an auditor", as: "auditor", open: "/console/system/jobs" },
    { title: "Backups", open: "/console/system/backups" },
    { title: "Keys", open: "/console/system/keys" },
    { title: "Rotate: sealing keys", open: "/console/system/keys/sealing/rotate" },
    { title: "Settings", open: "/console/system/settings" },
    { title: "Configuration export", open: "/console/system/export" },
    { title: "Branding", open: "/console/branding" },
  ],
};
