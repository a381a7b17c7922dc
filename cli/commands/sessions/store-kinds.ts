// The values of `--to`, in a separate file so that the command tree loads nothing else from cli/commands/sessions/.
import type { ObjectStore } from "../../../src/domain/sessions/service.ts";

export const STORE_KINDS: readonly ObjectStore["kind"][] = ["local", "s3"];
