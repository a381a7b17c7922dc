// Full versions as clients understand them: SemVer to the letter.

import { parse, type SemVer } from "semver";

/** @returns the version; nothing for anything but exact SemVer, so neither `v1.2.3` nor `1.2` */
export const parseVersion = (text: string): SemVer | null =>
  // The library also takes surrounding blanks and a leading v or =, which clients refuse.
  /^\d\S*$/.test(text) ? parse(text) : null;
