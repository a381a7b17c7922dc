// A replacement for systemctl. It knows the given units, and records started units in the file `started` of its folder.
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

interface Systemd {
  installed: readonly string[];
  /** stderr of a failing start */
  failure?: string;
}

/** @returns a value for PATH in which it is the first */
export function createSystemctl(folder: string, { installed, failure = "" }: Systemd): string {
  const units = installed.map((unit) => `"${unit}"`).join("|");
  const script = `#!/bin/sh
here="$(dirname "$0")"
case "$1" in
  cat) shift; for unit; do case "$unit" in ${units}) ;; *) exit 1 ;; esac; done ;;
  enable) echo "$*" >> "$here/started"; [ -z "${failure}" ] || { echo "${failure}" >&2; exit 1; } ;;
esac
`;
  writeFileSync(join(folder, "systemctl"), script, { mode: 0o700 });
  return [folder, process.env.PATH].join(delimiter);
}
