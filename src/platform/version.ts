// What this program is: facts that src/app/release/build.ts writes into the executable. From source they say "development".
// The schema number is migrate.ts's to say.

declare const QUARTERMASTER_VERSION: string | undefined;
declare const QUARTERMASTER_COMMIT: string | undefined;
declare const QUARTERMASTER_BUILD_TIME: string | undefined;

const DEVELOPMENT = "development";

/** semantic version of package.json */
export const VERSION = typeof QUARTERMASTER_VERSION === "string" ? QUARTERMASTER_VERSION : DEVELOPMENT;

/** VERSION where it has to be SemVer: from source the lowest there is */
export const SEMANTIC_VERSION = VERSION === DEVELOPMENT ? "0.0.0" : VERSION;

/** full commit id, with `-modified` after it when the tree had changes */
export const COMMIT = typeof QUARTERMASTER_COMMIT === "string" ? QUARTERMASTER_COMMIT : DEVELOPMENT;

/** RFC 3339 time of the commit, or null */
export const BUILD_TIME = typeof QUARTERMASTER_BUILD_TIME === "string" ? QUARTERMASTER_BUILD_TIME : null;

/** the newest contract version this program speaks */
export const API_CONTRACT = 3;
