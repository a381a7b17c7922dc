// The text of `quartermaster help harnesses`: how an installation without a network admits newer coding agents.
import {
  GENERATIONS_ADDED_MAX,
  HARNESS_FILE_BYTES_MAX,
  HARNESS_FILE_FORMAT,
} from "../../src/domain/harness-file.ts";
import { commands, type Topic, topic, yaml } from "../topic.ts";

/** @returns the topic, without a line break at its end */
export const harnessesTopic =
  (): Topic => topic`The program knows which versions of each coding agent (harness) are certified. A signed harness file
extends these facts without a new program.

The settings harnesses.file and harnesses.trust name the file and the public keys that may sign it.
The signature is beside the file, as FILE.sig. The service reads both at start and on SIGHUP. A file
that is unsigned, untrusted or wrong keeps the service from starting. On SIGHUP it is logged as
harnesses.kept, and the facts in force stay. The audit log records each change as harnesses.change.

The file is YAML or JSON:
${yaml(
  "manual: a harness file is no configuration of the service; test/cli/harnesses.test.ts reads one",
  `format: ${HARNESS_FILE_FORMAT}`,
  "harnesses:",
  "  codex:",
  "    verified_before: 0.160.0-0       # ceiling of the newest generation of the program",
  "  claude:",
  "    generations:                     # newer ones, oldest first",
  "      - introduced: 2.2.0            # a release, at or above the ceiling before it",
  "        verified_before: 2.3.0-0     # certified are versions below this",
  "        capabilities: [mcp, packages, helpers, gateway, skills, plugins, hooks]",
  "        allowed_components: [plugin_dir, skills_dir, plugins, helpers]",
  "        component_rules: {agents_require_plugin: true}",
)}

before may be given too: it is where the next generation begins, and the newest one has none.
What a generation leaves out is as in the generation before it. The words are those of
GET /harness-metadata. A file can only extend: it cannot lower a ceiling, change a generation of the
program, or allow components that the program refuses. A file has at most ${HARNESS_FILE_BYTES_MAX} bytes, and a
harness at most ${GENERATIONS_ADDED_MAX} new generations.

Sign with the key of bundles (see help bundles), or with a key of your own:
${commands(
  "run",
  "quartermaster catalog bundle-key > home.pub",
  "quartermaster harnesses sign agents.yaml",
  "quartermaster harnesses check agents.yaml --trust home.pub",
)}
Without us:
${commands("check", "openssl pkeyutl -sign -inkey key.pem -rawin -in agents.yaml -out agents.yaml.sig")}

Commands such as policy apply judge versions by the same settings: name the configuration of the
service with --config.`;
