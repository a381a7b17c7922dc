// Rules for the settings of the second machine. config/rules.ts has those of the other settings.
import type { Problem } from "../../errors.ts";
import { missingSetting, problem, type Settings } from "../setting-problem.ts";
import { SETTING_NAMES, type SettingName } from "../table.ts";
import { placeOf } from "./replica.ts";

const REPLICA = "standby.replica";
const STORE: readonly SettingName[] = [
  "blobs.s3.endpoint",
  "blobs.s3.access_key_id",
  "blobs.s3.secret_access_key",
];

/** @returns problems of the combined settings */
export function problemsOfStandby(config: Settings): readonly Problem[] {
  const url = config.get(REPLICA);
  const isLeased = config.get("standby.lease");
  if (url === undefined) return isLeased ? [missingSetting(REPLICA, "standby.lease needs it")] : [];
  const place = placeOf(url);
  return [
    ...(config.get("database.replicated")
      ? []
      : [problem("database.replicated", "must be yes, because Litestream replicates the database")]),
    ...(isLeased && place.kind !== "s3"
      ? [
          problem(
            "standby.lease",
            "needs a replica at s3://, because only such a store supports conditional writes",
          ),
        ]
      : []),
    ...(place.kind === "s3" ? problemsOfBucket(config, place.bucket) : []),
    ...(place.kind === "sftp" ? missing(config, ["standby.sftp_key_file", "standby.sftp_host_key"]) : []),
  ];
}

function problemsOfBucket(config: Settings, bucket: string): readonly Problem[] {
  const others: readonly SettingName[] = ["blobs.s3.bucket", "blobs.s3.package_bucket"];
  return [
    ...missing(config, STORE),
    ...others
      .filter((name) => config.get(name) === bucket)
      .map((name) => problem(REPLICA, `must not be in the bucket of ${name}`)),
  ];
}

const missing = (config: Settings, names: readonly SettingName[]): readonly Problem[] =>
  names.filter((name) => !config.has(name)).map((name) => missingSetting(name, "standby.replica needs it"));

/** @returns warnings for the operator */
export function standbyWarnings(config: Settings): readonly string[] {
  if (config.has(REPLICA)) return [];
  const ignored = SETTING_NAMES.filter((name) => name.startsWith("standby.") && config.has(name));
  return ignored.length === 0 ? [] : [`${REPLICA} is not set, so these do nothing: ${ignored.join(", ")}`];
}
