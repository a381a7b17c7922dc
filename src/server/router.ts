// What every routes file starts from: an instance that knows `requires` and `accepts`.
import { Elysia } from "elysia";
import { bodies } from "./body.ts";
import type { createGuard } from "./guard.ts";

export type Guard = ReturnType<typeof createGuard>;

/** @param area names the routes file; an unnamed plugin would run its hooks once per use */
export const createRouter = (guard: Guard, area: string) =>
  new Elysia({ name: `routes/${area}` }).use(guard).use(bodies);
