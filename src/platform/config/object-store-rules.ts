// Rules for the settings of the object store. config/rules.ts has those of the other settings.
import type { Problem } from "../errors.ts";
import { isLoopbackHost } from "./addresses.ts";
import { missingSetting, problem, type Settings } from "./setting-problem.ts";
import { SETTING_NAMES, type SettingName } from "./table.ts";

const CREDENTIALS: readonly SettingName[] = ["blobs.s3.access_key_id", "blobs.s3.secret_access_key"];

/** @returns problems of the combined settings; a store without an endpoint is not used */
export function problemsOfObjectStore(config: Settings): readonly Problem[] {
  const needed: readonly SettingName[] = ["blobs.s3.endpoint", "blobs.s3.bucket"];
  const bucket = config.get("blobs.s3.bucket");
  const missing = config.get("blobs.store") === "s3" ? needed.filter((name) => !config.has(name)) : [];
  const problems = missing.map((name) => missingSetting(name, "blobs.store s3 needs it"));
  if (!config.has("blobs.s3.endpoint")) return problems;
  return [
    ...problems,
    ...CREDENTIALS.filter((name) => !config.has(name)).map((name) =>
      missingSetting(name, "blobs.s3.endpoint needs it"),
    ),
    ...(bucket !== undefined && bucket === config.get("blobs.s3.package_bucket")
      ? [problem("blobs.s3.package_bucket", "must differ from blobs.s3.bucket")]
      : []),
  ];
}

/** @returns warnings for the operator */
export function objectStoreWarnings(config: Settings): readonly string[] {
  const given = SETTING_NAMES.filter((name) => name.startsWith("blobs.s3.") && config.has(name));
  if (!config.has("blobs.s3.endpoint"))
    return given.length === 0
      ? []
      : [`blobs.s3.endpoint is not set, so these do nothing: ${given.join(", ")}`];
  return (["blobs.s3.endpoint", "blobs.s3.public_endpoint"] as const)
    .filter((name) => isOpen(config.get(name)))
    .map((name) => `${name} is http, so others can read session bytes and signed URLs in transit`);
}

function isOpen(origin: string | undefined): boolean {
  const url = origin === undefined ? undefined : new URL(origin);
  return url?.protocol === "http:" && !isLoopbackHost(url.hostname);
}
