// Keys from the configuration file of a reference deployment: keys that are read as Quartermaster's settings, and keys that have
// no effect, each with its replacement. Quartermaster's own settings are in config/table.ts.
import type { SettingName } from "./table.ts";

/** From a key of the reference deployment to the setting that it sets. */
const READ_AS: Readonly<Record<string, SettingName>> = {
  "control_api.listen": "server.listen",
  // Clients verify that the audience is the URL of the API.
  "control_api.auth.audience": "server.public_url",
  "control_api.bootstrap.organization_name": "bootstrap.organization_name",
  "control_api.bootstrap.organization_slug": "bootstrap.organization_slug",
  "control_api.bootstrap.admin_email": "bootstrap.admin_email",
  "control_api.identity.mode": "identity.mode",
  "control_api.identity.scim_bearer_token": "scim.token",
  "control_api.identity.group_role_mappings": "scim.group_role_mappings",
  "control_api.blob_storage.bucket": "blobs.s3.bucket",
  "control_api.blob_storage.region": "blobs.s3.region",
  "control_api.blob_storage.endpoint": "blobs.s3.endpoint",
  "control_api.blob_storage.public_endpoint": "blobs.s3.public_endpoint",
  "control_api.blob_storage.force_path_style": "blobs.s3.path_style",
  "control_api.blob_storage.presign_ttl_seconds": "sessions.url_ttl_seconds",
  "control_api.blob_storage.retention_days": "sessions.retention_days",
  "control_api.package_artifacts.bucket": "blobs.s3.package_bucket",
  "control_api.gateway_request_logs.retention_days": "gateway.request_logs.retention_days",
};

const ONE_ORIGIN = "pages, tokens and the API share the origin server.public_url";
const SIGNING_KEYS =
  "signing keys are created and rotated in data_dir; see gateway.inference_jwt.rotation_days";
const SEALED_LOCALLY = "gateway keys are sealed locally; keys.sealing_key replaces it";

/** From a key without effect, or a mapping of such keys, to its replacement. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  "control_api.database_url": "the database is a file in data_dir",
  "control_api.database": "the database is a file in data_dir and needs no connections",
  "control_api.internal_listen": "an inference proxy asks at server.listen with gateway.proxy_token",
  "control_api.gateway_request_logs.max_connections":
    "the request log is a file in data_dir and needs no connections",
  "control_api.gateway": SEALED_LOCALLY,
  "control_api.run_background_jobs": "the service always runs its jobs; nothing replaces it",
  "control_api.bootstrap.admin_subject": "bootstrap.admin_email names the first administrator",
  "control_api.auth.session_url": ONE_ORIGIN,
  "control_api.auth.jwks_url": ONE_ORIGIN,
  "control_api.auth.issuer": ONE_ORIGIN,
  "control_api.auth.public_url": ONE_ORIGIN,
  "control_api.auth.client_id": "the client id of workstations is fixed; nothing replaces it",
  "control_api.known_versions":
    "certified versions come with each release; a signed file named by harnesses.file extends them",
  "gateway.internal_allowed_client_id": "gateway.proxy_token replaces it",
  "gateway.inference_jwt.private_key_file": SIGNING_KEYS,
  "gateway.inference_jwt.previous_private_key_file": SIGNING_KEYS,
  "gateway.inference_jwt.active_kid": SIGNING_KEYS,
  "gateway.inference_jwt.jwks_file": SIGNING_KEYS,
  "gateway.secret_encryption.provider": SEALED_LOCALLY,
  "gateway.secret_encryption.key": SEALED_LOCALLY,
  "gateway.secret_encryption.key_id": SEALED_LOCALLY,
};

/**
 * Keys of the list of repository connections, ours first. The list is not a setting, because one invalid entry must not
 * prevent the start.
 */
export const CONNECTION_KEYS = [
  "package_sources.connections",
  "control_api.package_sources.connections",
] as const;

/** @returns the unchecked list of repository connections of a file, with its key there; undefined without a list */
export function connectionsIn({ settingAt }: Pick<ReferenceFile, "settingAt">) {
  for (const key of CONNECTION_KEYS) {
    const found = settingAt(key);
    if (found) return { ...found, key };
  }
  return undefined;
}

/** Keys that are read as Quartermaster's settings. */
export const MAPPED_KEYS: readonly string[] = Object.keys(READ_AS);

/** Keys that are accepted and have no effect. */
export const KEYS_WITHOUT_EFFECT: readonly string[] = Object.keys(REPLACEMENTS);

/** @returns the key of the reference deployment that is read as the setting */
export const mappedKeyOf = (name: string): string | undefined =>
  MAPPED_KEYS.find((key) => READ_AS[key] === name);

/** @returns warnings for the operator about the reference deployment's keys in the file */
export function referenceWarnings(
  { path, settingAt }: ReferenceFile,
  { gateway }: { gateway: boolean },
): readonly string[] {
  const mapped = Object.entries(READ_AS).flatMap(([key, name]) => {
    const setting = settingAt(key);
    return setting === undefined ? [] : [`${key} (line ${setting.line}) as ${name}`];
  });
  const unused = KEYS_WITHOUT_EFFECT.filter((key) => settingAt(key) !== undefined).filter(
    (key) => gateway || !key.startsWith("gateway."),
  );
  return [
    ...(mapped.length === 0
      ? []
      : [`keys of a reference deployment in ${path} are read as settings: ${mapped.join(", ")}`]),
    ...unused.map((key) => `${key} has no effect: ${REPLACEMENTS[key]}`),
  ];
}

interface ReferenceFile {
  readonly path: string;
  settingAt(key: string): { readonly value: unknown; readonly line: number } | undefined;
}
