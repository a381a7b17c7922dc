// The text of `quartermaster help service`: installing the unit and changing it. The unit itself is text.ts's.
import { commands, type Topic, topic } from "../topic.ts";

/** @returns the text without a line break at its end; lines of at most 100 characters */
export const serviceTopic = (): Topic => topic`Under systemd 252 or newer, as root:

${commands(
  "run",
  "install -m 755 quartermaster /usr/local/bin/quartermaster",
  "install -d /etc/sysusers.d",
  "quartermaster unit --sysusers > /etc/sysusers.d/quartermaster.conf && systemd-sysusers",
  "quartermaster unit > /etc/systemd/system/quartermaster.service",
  "systemctl enable --now quartermaster",
)}

Data is in /var/lib/quartermaster. Settings are read from /etc/quartermaster/quartermaster.yaml: the
user quartermaster must be able to read it (install -D -m 640 -g quartermaster). Sockets belong into
/run/quartermaster (server.listen: unix:/run/quartermaster/service.sock). The password of the first
administrator is in /var/lib/quartermaster/initial-admin-password: read it, then remove it.
Commands work beside the service: quartermaster status --data-dir /var/lib/quartermaster

systemctl status    shows version, schema, policy revision and the number of clients
systemctl reload    reads log level, TLS files, catalog, policy and group roles again; what else has
                    changed is named in the log, and waits for a restart
systemctl stop      ends running requests, within 20 seconds
journalctl -u quartermaster -p warning
                    shows what needs attention

Secrets lie in /etc/credstore, one file of mode 600 each, such as quartermaster.sealing-key: the
unit names them all. An encrypted one (systemd-creds encrypt) lies in /etc/credstore.encrypted and
needs LoadCredentialEncrypted=sealing-key:quartermaster.sealing-key in a drop-in. Commands beside
the service find a secret where a variable says, such as QUARTERMASTER_KEYS_SEALING_KEY_FILE=<file>.

The files of own TLS are read again at a reload, so the user quartermaster must be able to read
them, and nobody else: install -D -m 640 -g quartermaster key.pem /etc/quartermaster/key.pem
New connections get the new certificate. A broken or foreign pair is refused, and the old one stays.

Changes belong into drop-ins (systemctl edit quartermaster), each under [Service]:

a port below 1024   AmbientCapabilities=CAP_NET_BIND_SERVICE
                    CapabilityBoundingSet=CAP_NET_BIND_SERVICE
                    PrivateUsers=no
some callers only   IPAddressDeny=any
                    IPAddressAllow=localhost 192.0.2.0/24
no memory as code   MemoryDenyWriteExecute=yes
                    Type=exec
                    NotifyAccess=none
                    WatchdogSec=0
                    The runtime then works without its compiler and cannot speak to systemd;
                    computing takes four to five times as long.`;
