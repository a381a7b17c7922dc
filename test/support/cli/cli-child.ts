// The command line with the verbs of cli-verbs.ts, as a separate process.
import { processContext } from "../../../cli/context.ts";
import { run } from "../../../cli/program.ts";
import { programWithTests } from "./cli-verbs.ts";

const context = processContext();
process.exit(await run(process.argv.slice(2), context, programWithTests(context)));
