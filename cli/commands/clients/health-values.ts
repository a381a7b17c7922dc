// The healths that `--health` takes; apart, so that the command tree needs nothing else of cli/commands/clients/.
import type { Health } from "../../../src/domain/clients/model.ts";

export const HEALTHS: readonly Health[] = ["current", "outdated", "attention"];
