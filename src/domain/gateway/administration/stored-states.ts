// The states of a gateway key that a filter accepts. The file has no imports, because the tree of commands loads it at every start.

/** The states of a stored key, in the order in which help and filters list them. */
export const STORED_STATES = ["ready", "error", "invalid", "recovering"] as const;
