// Which layout of an adapter serves an installed version (control-api.md section 8.3).

import type { SemVer } from "semver";
import type { PackageAdapter, PackageLayout } from "../../catalog/model.ts";

/** @param version full SemVer @returns nothing when the adapter does not serve this version */
export const layoutFor = (_adapter: PackageAdapter, _version: SemVer | string): PackageLayout | undefined => {
  throw new Error("follows");
};
