// The values of `--state`, in a separate file so that the command tree loads nothing else from cli/commands/keys/.
export const STORED_STATES = ["ready", "error", "invalid", "recovering"] as const;
