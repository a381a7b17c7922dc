// The limit for tokens that are seen for the first time: their share of the processor, their order, and the end of the wait.
import { describe, expect, test } from "bun:test";
import { SECOND_MS } from "../../../src/platform/clock.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import {
  REFUSAL_BURST_MS,
  REFUSAL_SHARE,
  REFUSED_TOKENS,
  TokenVerificationLimit,
  TURN_MS,
  WAITING_MAX,
} from "../../../src/server/auth/token-verification-limit.ts";
import { heldClock } from "../../support/world.ts";

const ADDRESS = "192.0.2.7";

/** A limit whose time passes only by work, and by `rest`. */
function gate() {
  const clock = heldClock();
  let elapsedMs = 0;
  const verdicts: string[] = [];
  const observe = (verdict: string) => void verdicts.push(verdict);
  const sights = new TokenVerificationLimit({ clock, observe, elapsedMs: () => elapsedMs });
  return {
    clock,
    sights,
    verdicts,
    rest: (ms: number) => {
      elapsedMs += ms;
    },
    /** duration of one verification */
    work: <T>(ms: number, answer: T) => {
      return () => {
        elapsedMs += ms;
        return answer;
      };
    },
  };
}

const refuse = () => {
  throw new DomainError("unauthenticated", "access.token_invalid", "no");
};

/** @returns the result, or the reason of the refusal */
const answerOf = async <T>(answer: Promise<T>): Promise<T | string> =>
  answer.catch((error) => (error instanceof DomainError ? error.reason : String(error)));

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("token verification", () => {
  test.each([
    ["below", -1, 0],
    ["at", 0, 1],
    ["above", 1, 1],
  ])(
    "handles the next token in the same turn or in the next turn after work %s the limit",
    async (_, more, waiting) => {
      const { sights, work } = gate();
      expect(await sights.run(ADDRESS, work(TURN_MS + more, "first"))).toBe("first");
      let requests = 0;
      const next = sights.run(ADDRESS, () => {
        requests += 1;
        return "next";
      });
      expect([requests, sights.waiting]).toEqual([1 - waiting, waiting]);
      expect(await next).toBe("next");
      expect([requests, sights.waiting]).toEqual([1, 0]);
    },
  );

  test("has a time budget for each turn", async () => {
    const { sights, work } = gate();
    await sights.run(ADDRESS, work(TURN_MS, "long"));
    await nextTurn();
    void sights.run(ADDRESS, () => "next");
    expect(sights.waiting).toBe(0);
  });

  test("serves waiting callers in order of arrival", async () => {
    const { sights, work } = gate();
    await sights.run(ADDRESS, work(TURN_MS, "long"));
    const order: string[] = [];
    const waiting = ["one", "two", "three"].map((name) =>
      sights.run(ADDRESS, () => {
        order.push(name);
        return name;
      }),
    );
    expect(sights.waiting).toBe(3);
    expect(await Promise.all(waiting)).toEqual(["one", "two", "three"]);
    expect(order).toEqual(["one", "two", "three"]);
    expect(sights.waiting).toBe(0);
  });

  test("delays new tokens after refusals use up their share, until it is refilled", async () => {
    const { sights, work, rest } = gate();
    const slowRefusal = () => {
      work(2 * REFUSAL_BURST_MS, "")();
      return refuse();
    };
    await answerOf(sights.run(ADDRESS, slowRefusal));
    await nextTurn();
    const waiting = sights.run("198.51.100.1", () => "let in");
    expect(sights.waiting).toBe(1);
    rest(REFUSAL_BURST_MS / REFUSAL_SHARE);
    expect(await waiting).toBe("let in");
  });

  test("a waiting caller whose token was verified in the meantime is neither verified nor counted", async () => {
    const { work, rest, sights, verdicts } = gate();
    await sights.run(ADDRESS, work(TURN_MS, "long"));
    let known: string | undefined;
    const verify = () => {
      rest(1);
      known = "the token";
      return known;
    };
    const callers = [1, 2, 3].map(() => sights.run(ADDRESS, verify, { known: () => known }));
    expect(sights.waiting).toBe(3);
    expect(await Promise.all(callers)).toEqual(["the token", "the token", "the token"]);
    expect(verdicts).toEqual(["accepted", "accepted"]); // of the long one, and of the first of the three
  });

  test("passes a refusal on to the waiting caller", async () => {
    const { sights, work } = gate();
    await sights.run(ADDRESS, work(TURN_MS, "long"));
    const refused = answerOf(sights.run(ADDRESS, refuse));
    expect(sights.waiting).toBe(1);
    expect(await refused).toBe("access.token_invalid");
  });

  test.each([
    ["below", -1],
    ["at", 0],
    ["above", 1],
  ])("lets a limited number of callers wait, tested %s the limit", async (_where, more) => {
    const { sights, work } = gate();
    await sights.run(ADDRESS, work(TURN_MS, "long"));
    const answers = Array.from({ length: WAITING_MAX + more }, () =>
      answerOf(sights.run(ADDRESS, () => "let in")),
    );
    const refused = (await Promise.all(answers)).filter((answer) => answer !== "let in");
    expect(refused).toEqual(more > 0 ? ["access.verification_busy"] : []);
  });
});

describe("an address with refused tokens", () => {
  test.each([
    ["below", -1, "let in"],
    ["at", 0, "access.tokens_refused"],
    ["above", 1, "access.tokens_refused"],
  ])("is admitted only below the limit, tested %s it", async (_where, more, expected) => {
    const { sights } = gate();
    for (let sent = 0; sent < REFUSED_TOKENS.burst + more; sent += 1)
      await answerOf(sights.run(ADDRESS, refuse));
    expect(await answerOf(sights.run(ADDRESS, () => "let in"))).toBe(expected);
    expect(await answerOf(sights.run("198.51.100.1", () => "let in"))).toBe("let in");
  });

  test("is admitted again after some time", async () => {
    const { sights, clock } = gate();
    for (let sent = 0; sent <= REFUSED_TOKENS.burst; sent += 1) await answerOf(sights.run(ADDRESS, refuse));
    clock.advance(SECOND_MS);
    expect(await answerOf(sights.run(ADDRESS, () => "let in"))).toBe("let in");
  });

  test("spends none of its budget on valid tokens", async () => {
    const { sights } = gate();
    for (let sent = 0; sent < 3 * REFUSED_TOKENS.burst; sent += 1)
      expect(await sights.run(ADDRESS, () => "let in")).toBe("let in");
  });

  test("a waiting caller who has hung up takes no time from the others", async () => {
    const { sights, work } = gate();
    await sights.run(ADDRESS, work(TURN_MS, "long"));
    const gone = new AbortController();
    const verified: string[] = [];
    const ask = (name: string, signal: AbortSignal) =>
      answerOf(sights.run(ADDRESS, () => verified.push(name), { signalOf: () => signal }));
    const answers = [ask("gone", gone.signal), ask("there", new AbortController().signal)];
    gone.abort();
    expect(await Promise.all(answers)).toEqual(["request.hung_up", 1]);
    expect(verified).toEqual(["there"]);
  });
});
