// The file that a process leaves in the artifact store when it is killed while it stores an artifact.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Leaves a file of a former process that had the id of this one, as in a restarted container. */
export const leavePartialFile = (directory: string): void =>
  writeFileSync(join(directory, `put-${process.pid}-00000000-${crypto.randomUUID()}`), "half");
