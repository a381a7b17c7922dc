// Runs before the tests of each process: bunfig.toml.
import { afterAll } from "bun:test";
import { endFiles } from "./support/lending/end-of-files.ts";

afterAll(endFiles);

/**
 * Elysia requests a collection of garbage for each server that it composes, and a process composes hundreds for its tests: an
 * eighth of their processor time. Collections that the product waits for still take place.
 */
const collect = Bun.gc;
Bun.gc = (isAwaited) => (isAwaited ? collect(true) : 0);
