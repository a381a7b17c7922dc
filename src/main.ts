// The entry of the executable: hands the process to the command line and leaves with its exit code. Nothing else.
import "./platform/production.ts";
import { processContext } from "../cli/context.ts";
import { run } from "../cli/program.ts";

process.exit(await run(process.argv.slice(2), processContext()));
