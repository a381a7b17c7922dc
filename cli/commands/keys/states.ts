// The states that `--state` takes; apart, so that the command tree needs nothing else of cli/commands/keys/.
export const STORED_STATES = ["ready", "error", "invalid", "recovering"] as const;
