// The values of `--kind`, in a separate file so that the command tree loads nothing else from cli/commands/logins/.
import type { LoginKind } from "../../../src/domain/access/logins/logins.ts";

export const KINDS: readonly LoginKind[] = ["device_login", "login_session", "grant"];
