// The systemd unit of the service and the user it runs as (operator-experience.md section 2.1): texts for files that an operator
// installs. What the service itself does for systemd is src/app/service/supervision.ts.

import { SETTING_NAMES, settingOf } from "../../../src/platform/config/table.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { PERMANENT_FAILURE_EXITS } from "../../exit.ts";

/** User and group, and the name of each directory that systemd makes. */
const NAME = "quartermaster";

/**
 * The user is a lasting one: the files of a dynamic user lie in /var/lib/private, where nobody but root gets to, so
 * commands that act as their owner could not open them.
 * @param executable absolute path
 * @throws DomainError `unit.path_unfit`
 */
export const unitText = (
  executable: string,
): string => `# Made by \`quartermaster unit\`; \`quartermaster help service\` tells how to install and change it. Changes belong
# into drop-ins, so that this file can be replaced together with the executable.
[Unit]
Description=Quartermaster, control service for coding-agent command lines
Wants=network-online.target
After=network-online.target
# What time may heal is tried again for ever.
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=main
User=${NAME}
Group=${NAME}
ExecStart=${quoted(executable)} serve
ExecReload=kill -HUP $MAINPID
WatchdogSec=30
# A process that hangs has nothing to say; SIGABRT would have the runtime print a crash report.
WatchdogSignal=SIGKILL
# The runtime sends no such reports anywhere.
Environment=DO_NOT_TRACK=1 BUN_ENABLE_CRASH_REPORTING=0
Restart=on-failure
RestartSec=2
# What only a person can mend: settings, a newer or lost database, a lost key, permissions, damage.
RestartPreventExitStatus=${PERMANENT_FAILURE_EXITS.join(" ")}
# A start may have to bring a large database to a new schema.
TimeoutStartSec=30min
# 20 s for running requests, then jobs and calls of the provisioner.
TimeoutStopSec=60
LimitNOFILE=65536

StateDirectory=${NAME}
StateDirectoryMode=0700
RuntimeDirectory=${NAME}
ConfigurationDirectory=${NAME}
UMask=0077
# Secrets: each is read from /etc/credstore/${NAME}.<name>, if it is there.
${credentials().join("\n")}

CapabilityBoundingSet=
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
ProcSubset=pid
PrivateTmp=yes
PrivateMounts=yes
PrivateDevices=yes
DevicePolicy=closed
PrivateUsers=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
LockPersonality=yes
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target`;

/** A line of sysusers.d(5). */
export const SYSUSERS_TEXT = `u ${NAME} - "Quartermaster" /var/lib/${NAME}`;

/** A name without a path is looked for in the credential stores, and may be missing there (systemd.exec(5)). */
const credentials = (): string[] =>
  SETTING_NAMES.flatMap((name) => settingOf(name).credential ?? []).map(
    (credential) => `LoadCredential=${credential}:${NAME}.${credential}`,
  );

/** systemd.service(5), "Command lines"; systemd takes no path with quotes or backslashes in it */
function quoted(path: string): string {
  if (/["'\\\p{Cc}]/u.test(path)) {
    const message = `systemd starts no executable whose path has quotes, backslashes or control characters in it`;
    throw new DomainError("invalid", "unit.path_unfit", message, { hint: "install it elsewhere" });
  }
  const escaped = path.replaceAll("%", "%%");
  return /\s/.test(escaped) ? `"${escaped}"` : escaped;
}
