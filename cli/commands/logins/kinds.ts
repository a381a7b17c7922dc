// The kinds of login that `--kind` takes; apart, so that the command tree needs nothing else of cli/commands/logins/.
import type { LoginKind } from "../../../src/domain/access/logins/logins.ts";

export const KINDS: readonly LoginKind[] = ["device_login", "login_session", "grant"];
