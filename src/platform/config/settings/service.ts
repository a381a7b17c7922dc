// Settings of the process and its data: `data_dir`, `server.*`, `log.*`, `metrics.*`, `keys.*`, `bootstrap.*`, `backup.*` and
// `database.*`.
import { addressRange, FORWARDED_HEADERS, listenAddress, publicOrigin } from "../addresses.ts";
import { boolean, choice, email, integer, list, path, pattern, text } from "../types.ts";
import { optional, type Settings, sealed, withDefault } from "./setting.ts";

export const ADMIN_PASSWORD_LENGTH_MIN = 12;
/** at most a month, because an older backup is of little use; 0 turns scheduled backups off */
const BACKUP_EVERY_HOURS = { min: 0, max: 744 };
const BACKUPS_KEPT = { min: 1, max: 1000 };
export const REPLACED_KEPT_DAYS = { min: 1, max: 3650 };

const slug = pattern(/^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/, {
  placeholder: "slug",
  form: "lower-case letters and digits with dashes between them, at most 64 characters",
});

export const SERVICE_SETTINGS = {
  data_dir: {
    ...withDefault(path, "./data", "folder for all data of the service"),
    defaultVariable: "STATE_DIRECTORY",
  },
  "server.listen": withDefault(
    listenAddress,
    "127.0.0.1:8080",
    "where to listen: host:port, [ipv6]:port or unix:/path",
  ),
  "server.public_url": optional(publicOrigin, "origin at which workstations and browsers reach the service"),
  "server.tls_cert": optional(path, "PEM file with the certificate chain, to serve TLS directly"),
  "server.tls_key": optional(path, "PEM file with the private key, to serve TLS directly"),
  "server.trusted_proxies": withDefault(
    list(addressRange),
    "",
    "addresses or ranges of proxies whose forwarding header is trusted",
  ),
  "server.forwarded_header": withDefault(
    choice(...FORWARDED_HEADERS),
    "x-forwarded-for",
    "header in which trusted proxies pass the client's address; all others are ignored",
  ),
  "log.level": withDefault(
    choice("debug", "info", "warning", "error"),
    "info",
    "lowest level that is logged",
  ),
  "log.format": withDefault(
    choice("auto", "json", "text"),
    "auto",
    "format of log lines; auto means JSON for the journal, text otherwise",
  ),
  "metrics.token": sealed("metrics-token", "bearer token for reading the metrics"),
  "keys.sealing_key": sealed("sealing-key", "key that encrypts secrets in the database"),
  "bootstrap.admin_email": withDefault(
    email,
    "admin@example.com",
    "the protected administrator, created if missing; without this setting, an existing installation keeps the one it has",
  ),
  "bootstrap.admin_password": sealed(
    "admin-password",
    `password of the first administrator, at least ${ADMIN_PASSWORD_LENGTH_MIN} characters`,
    ADMIN_PASSWORD_LENGTH_MIN,
  ),
  "bootstrap.organization_name": withDefault(text, "Development", "name of the first organization"),
  "bootstrap.organization_slug": withDefault(
    slug,
    "dev",
    "short name of the organization, which repository connections use",
  ),
  "backup.every_hours": withDefault(
    integer(BACKUP_EVERY_HOURS),
    "24",
    "hours between scheduled backups; 0 turns them off",
  ),
  "backup.keep": withDefault(
    integer(BACKUPS_KEPT),
    "7",
    "number of scheduled backups to keep; older ones are removed",
  ),
  "backup.sessions": withDefault(
    boolean,
    "no",
    "whether backups hold the files of captured sessions in the data directory too; they are large and expire",
  ),
  "backup.keep_replaced": withDefault(
    integer(REPLACED_KEPT_DAYS),
    "30",
    "days to keep the data that a restore has replaced",
  ),
  "backup.directory": optional(
    path,
    "existing folder for backups; by default backups/ in the data directory",
  ),
  "database.replicated": withDefault(
    boolean,
    "no",
    "whether other software, such as Litestream, replicates the database file and checkpoints its log",
  ),
} satisfies Settings;
