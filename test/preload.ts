// Runs before the tests of each process: bunfig.toml. The test script sets two variables of the runtime: it has no slowest compiler,
// which would finish too late, and gives no memory back to the system, which took a third of the time of the system.
import { afterAll } from "bun:test";
import { endFiles } from "./support/lending/end-of-files.ts";

afterAll(endFiles);

/**
 * Elysia requests a collection of garbage for each server that it composes, and the product one after large work. A process
 * composes hundreds of servers for its tests and keeps much in memory: the collections took an eighth of the tests' time. Tests
 * that measure memory call `fullGC` of "bun:jsc".
 */
Bun.gc = () => 0;
