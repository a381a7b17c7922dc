// The values of `--health`, in a separate file so that the command tree loads nothing else from cli/commands/clients/.
import type { Health } from "../../../src/domain/clients/model.ts";

export const HEALTHS: readonly Health[] = ["current", "outdated", "attention"];
