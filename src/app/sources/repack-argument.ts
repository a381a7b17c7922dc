// How the program recognizes that it was started to make one archive.

/** The only argument of such a run; no command has this name. */
export const REPACK_ARGUMENT = "--make-archive-of-commit";
