/** States of a stored key. In a file without imports, because the tree of commands loads it at every start. */
export const STORED_STATES = ["ready", "error", "invalid", "recovering"] as const;
