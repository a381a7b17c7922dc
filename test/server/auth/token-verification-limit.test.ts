// The turn of callers whose token comes for the first time: their share of the processor, their order, and their end.
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

/** A gate whose time passes only by work, and by `rest`. */
function gate() {
  const clock = heldClock();
  let elapsedMs = 0;
  const sights = new TokenVerificationLimit({ clock, elapsedMs: () => elapsedMs });
  return {
    clock,
    sights,
    rest: (ms: number) => {
      elapsedMs += ms;
    },
    /** takes that long to verify */
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

function reasonOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error instanceof DomainError ? error.reason : error;
  }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("the share of the processor", () => {
  test.each([
    ["below", -1, "next"],
    ["at", 0, undefined],
    ["above", 1, undefined],
  ])(
    "with work %s the time of a turn, the next token is verified at once or not looked at",
    (_, more, next) => {
      const { sights, work } = gate();
      expect(sights.verifyNow(ADDRESS, work(TURN_MS + more, "first"))).toBe("first");
      let asked = 0;
      const count = () => {
        asked += 1;
        return "next";
      };
      expect<string | undefined>(sights.verifyNow(ADDRESS, count)).toBe(next);
      expect(asked).toBe(next === undefined ? 0 : 1);
    },
  );

  test("each turn has its own time budget", async () => {
    const { sights, work } = gate();
    sights.verifyNow(ADDRESS, work(TURN_MS, "long"));
    await nextTurn();
    expect(sights.verifyNow(ADDRESS, () => "next")).toBe("next");
  });

  test("callers are answered in order of arrival", async () => {
    const { sights, work } = gate();
    sights.verifyNow(ADDRESS, work(TURN_MS, "long"));
    const order: string[] = [];
    const waiting = ["one", "two", "three"].map((name) =>
      sights.inTurn(ADDRESS, () => {
        order.push(name);
        return name;
      }),
    );
    expect(sights.verifyNow(ADDRESS, () => "overtakes")).toBeUndefined();
    expect(await Promise.all(waiting)).toEqual(["one", "two", "three"]);
    expect(order).toEqual(["one", "two", "three"]);
    expect(sights.waiting).toBe(0);
  });

  test("when refusals have used up their share, new tokens wait until it is refilled", async () => {
    const { sights, work, rest } = gate();
    const slowRefusal = () => {
      work(2 * REFUSAL_BURST_MS, "")();
      return refuse();
    };
    reasonOf(() => sights.verifyNow(ADDRESS, slowRefusal));
    await nextTurn();
    expect(sights.verifyNow("198.51.100.1", () => "let in")).toBeUndefined();
    rest(REFUSAL_BURST_MS / REFUSAL_SHARE);
    expect(sights.verifyNow("198.51.100.1", () => "let in")).toBe("let in");
  });

  test("a waiting caller receives its refusal", async () => {
    const { sights } = gate();
    expect(await sights.inTurn(ADDRESS, refuse).catch(({ reason }) => reason)).toBe("access.token_invalid");
  });

  test.each([
    ["below", -1],
    ["at", 0],
    ["above", 1],
  ])("callers %s the number that may wait", async (_where, more) => {
    const { sights } = gate();
    const answers = Array.from({ length: WAITING_MAX + more }, () =>
      sights.inTurn(ADDRESS, () => "let in").catch(({ reason }) => reason),
    );
    const refused = (await Promise.all(answers)).filter((answer) => answer !== "let in");
    expect(refused).toEqual(more > 0 ? ["access.verification_busy"] : []);
  });
});

describe("an address whose tokens are refused", () => {
  test.each([
    ["below", -1, "let in"],
    ["at", 0, "access.tokens_refused"],
    ["above", 1, "access.tokens_refused"],
  ])("is listened to or not, %s the limit", (_where, more, expected) => {
    const { sights } = gate();
    for (let sent = 0; sent < REFUSED_TOKENS.burst + more; sent += 1)
      reasonOf(() => sights.verifyNow(ADDRESS, refuse));
    expect(reasonOf(() => sights.verifyNow(ADDRESS, () => "let in"))).toBe(expected);
    expect(reasonOf(() => sights.verifyNow("198.51.100.1", () => "let in"))).toBe("let in");
  });

  test("is admitted again after some time", () => {
    const { sights, clock } = gate();
    for (let sent = 0; sent <= REFUSED_TOKENS.burst; sent += 1)
      reasonOf(() => sights.verifyNow(ADDRESS, refuse));
    clock.advance(SECOND_MS);
    expect(reasonOf(() => sights.verifyNow(ADDRESS, () => "let in"))).toBe("let in");
  });

  test("valid tokens do not use its budget", () => {
    const { sights } = gate();
    for (let sent = 0; sent < 3 * REFUSED_TOKENS.burst; sent += 1)
      expect(sights.verifyNow(ADDRESS, () => "let in")).toBe("let in");
  });
});
