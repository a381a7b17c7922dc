// The scripts that dpkg and rpm run. They match what debhelper and the macros of rpm generate for a systemd unit, but
// enable and start nothing: the administrator does that. No script removes data.
import { DATA_PLACE, INSTALLED_CONFIG, SYSUSERS_FILE } from "./layout.ts";

/** The unit of the package, and the unit of a second process, which the administrator may have added. */
const UNITS = ["quartermaster.service", "quartermaster-proxy.service"];
const [UNIT = ""] = UNITS;

/** Scripts by their name in the configuration of nfpm. */
export interface Scriptlets {
  preinstall?: string;
  postinstall: string;
  preremove: string;
  postremove: string;
}

/** @source Debian Policy, chapter 6: the arguments; debhelper's dh_installsystemd and dh_installsysusers: the calls */
export const DEB_SCRIPTLETS: Scriptlets = {
  // A configuration file is unpacked before its group exists. dpkg keeps the owner and mode of an existing file.
  postinstall: `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  systemd-sysusers quartermaster.conf
  systemd-tmpfiles --create quartermaster.conf
  if [ -z "$2" ] && [ -e ${INSTALLED_CONFIG} ] && ! dpkg-statoverride --list ${INSTALLED_CONFIG} > /dev/null; then
    chgrp quartermaster ${INSTALLED_CONFIG}
    chmod 640 ${INSTALLED_CONFIG}
  fi
fi
deb-systemd-helper update-state ${UNIT} > /dev/null || true
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload > /dev/null || true
  if [ -n "$2" ]; then
    for unit in ${UNITS.join(" ")}; do
      deb-systemd-invoke try-restart "$unit" > /dev/null 2>&1 || true
    done
  fi
fi
`,
  preremove: `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  for unit in ${UNITS.toReversed().join(" ")}; do
    deb-systemd-invoke stop "$unit" > /dev/null 2>&1 || true
  done
fi
`,
  postremove: `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload > /dev/null || true
fi
if [ "$1" = purge ]; then
  deb-systemd-helper purge ${UNIT} > /dev/null 2>&1 || true
  if [ -d ${DATA_PLACE} ]; then
    echo "${DATA_PLACE} is kept: it has the database, the keys and the backups of quartermaster."
    echo "The user quartermaster and the secrets in /etc/credstore are kept, too."
  fi
fi
`,
};

/**
 * @param sysusers the file for sysusers.d(5)
 * @source systemd's macros for rpm: %sysusers_create_package, %systemd_preun, %systemd_postun_with_restart
 */
export const rpmScriptlets = (sysusers: string): Scriptlets => ({
  // The group must exist before the configuration file is unpacked. The file for sysusers is not installed yet.
  preinstall: `systemd-sysusers --replace=${SYSUSERS_FILE} - > /dev/null 2>&1 <<'END' || :
${sysusers.trimEnd()}
END
`,
  postinstall: `systemd-tmpfiles --create quartermaster.conf > /dev/null 2>&1 || :
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload > /dev/null 2>&1 || :
fi
`,
  preremove: `if [ "$1" -eq 0 ] && [ -d /run/systemd/system ]; then
  systemctl stop ${UNITS.toReversed().join(" ")} > /dev/null 2>&1 || :
  systemctl --no-reload disable ${UNIT} > /dev/null 2>&1 || :
fi
`,
  postremove: `if [ -d /run/systemd/system ]; then
  systemctl daemon-reload > /dev/null 2>&1 || :
  if [ "$1" -ge 1 ]; then
    systemctl try-restart ${UNITS.join(" ")} > /dev/null 2>&1 || :
  fi
fi
if [ "$1" -eq 0 ] && [ -d ${DATA_PLACE} ]; then
  echo "${DATA_PLACE} is kept: it has the database, the keys and the backups of quartermaster."
fi
`,
});
