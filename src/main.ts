// The entry of the executable: hands the process to the command line and leaves with its exit code, or does the one task that the
// service starts it for. Nothing else.
import "./platform/production.ts";
import { REPACK_ARGUMENT } from "./app/sources/repack-argument.ts";

if (process.argv[2] === REPACK_ARGUMENT) {
  const { answerRepackTask } = await import("./app/sources/repack-program.ts");
  process.exit(await answerRepackTask());
}
const [{ processContext }, { run }] = await Promise.all([
  import("../cli/context.ts"),
  import("../cli/program.ts"),
]);
process.exit(await run(process.argv.slice(2), processContext()));
