// Facts about this program that src/app/release/build.ts writes into the executable; from source they are "development".
// The schema number is in migrate.ts.

declare const QUARTERMASTER_VERSION: string | undefined;
declare const QUARTERMASTER_COMMIT: string | undefined;
declare const QUARTERMASTER_BUILD_TIME: string | undefined;

const DEVELOPMENT = "development";

/** semantic version of package.json */
export const VERSION = typeof QUARTERMASTER_VERSION === "string" ? QUARTERMASTER_VERSION : DEVELOPMENT;

/** VERSION if SemVer is required: the lowest version when run from source */
export const SEMANTIC_VERSION = VERSION === DEVELOPMENT ? "0.0.0" : VERSION;

/** full commit id, followed by `-modified` if the tree had changes */
export const COMMIT = typeof QUARTERMASTER_COMMIT === "string" ? QUARTERMASTER_COMMIT : DEVELOPMENT;

/** RFC 3339 time of the commit, or null */
export const BUILD_TIME = typeof QUARTERMASTER_BUILD_TIME === "string" ? QUARTERMASTER_BUILD_TIME : null;

/** the newest contract version of this program */
export const API_CONTRACT = 3;
