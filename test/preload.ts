// Runs before the tests of each process (bunfig.toml). The test script sets two variables of the runtime. The first turns off the
// slowest compiler, because most tests end before its code is ready. The second keeps freed memory, because returning it to the
// system took a third of the system time.
import { afterAll } from "bun:test";
import { endFiles } from "./support/lending/end-of-files.ts";

afterAll(endFiles);

/**
 * Elysia requests a garbage collection for each server that it composes, and the product requests one after large work. Tests compose
 * hundreds of servers in one process, which keeps much in memory: the collections took an eighth of the tests' time. Tests that measure
 * the heap call `fullGC` of "bun:jsc"; those that measure the memory of a process start one.
 */
Bun.gc = () => 0;
