// The argument that starts the program as a process that makes one archive.

/** The only argument of such a run; no command has this name. */
export const REPACK_ARGUMENT = "--make-archive-of-commit";
