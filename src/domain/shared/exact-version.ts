// Reads full versions exactly as clients do: strict SemVer.

import { parse, type SemVer } from "semver";

/** @returns the version; null for text that is not exact SemVer, such as `v1.2.3` or `1.2` */
export const parseVersion = (text: string): SemVer | null =>
  // The library also accepts surrounding blanks and a leading v or =, which clients refuse.
  /^\d\S*$/.test(text) ? parse(text) : null;
