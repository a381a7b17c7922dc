// Entry point of a thread whose task needs a longer text than the engine can hold. memory-limits.test.ts starts it.
import { answer } from "../../../src/platform/task-thread.ts";

answer(() => "x".repeat(2 ** 31));
