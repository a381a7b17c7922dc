// Random sequences of all events of device logins and grants, compared with a small model that has its own numbers. A
// failure prints seed and path. Pass both to `fc.assert` to reproduce it. The sequence is shrunk to the shortest one
// that fails.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { sweepLogins } from "../../src/domain/access/sweep.ts";
import { grants } from "../../src/domain/access/tables.ts";
import { OAUTH_CLIENT_ID } from "../../src/domain/access/wire.ts";
import type { User } from "../../src/domain/identity/service.ts";
import {
  addUser,
  afterSeconds,
  type Browser,
  createLoginWorld,
  type LoginWorld,
  redeem,
  refresh,
  refusalOf,
  requestLogin,
  signIn,
} from "../domain/access/login-world.ts";

const SEQUENCES = 50;
const [STEPS_MIN, STEPS_MAX] = [20, 40];
/** on a busy machine; a quiet one takes a few seconds */
const TIME_LIMIT_MS = 60_000;
const USERS = 2;
const [INTERVAL, CODE_LIFE, CODE_KEPT, SESSION_LIFE] = [5, 600, 600, 43_200];
const [GRACE, REFRESH_LIFE] = [60, 2_592_000];
/** an access token's clock tolerance */
const TOLERANCE = 60;

/** Which login, user or token a step uses: the newest is 0, and a number out of range wraps around. */
const which = fc.nat({ max: 3 });
const user = fc.nat({ max: USERS - 1 });
const kind = <K extends string>(name: K) => fc.constant(name);

const decision = fc.constantFrom("approve" as const, "approve" as const, "refuse" as const);
/** whether the browser signs out between the decision and the poll */
const signsOut = fc.constantFrom(false, false, false, true);
/** seconds between the polls of a workstation that polls too fast */
const gaps = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 3 });
const moment = fc.constantFrom(1, 4, 5, 5, 30, 59, 60, 61);
const pause = fc.constantFrom(599, 600, 840, 900, 960, 1_200);
const absence = fc.constantFrom(SESSION_LIFE, REFRESH_LIFE - 1, REFRESH_LIFE);

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ op: kind("request") }) },
  { weight: 3, arbitrary: fc.record({ op: kind("logIn"), user, decision, signsOut }) },
  { weight: 6, arbitrary: fc.record({ op: kind("poll"), which, gaps }) },
  { weight: 4, arbitrary: fc.record({ op: kind("claim"), which, user, typed: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ op: kind("decide"), which, user, decision }) },
  { weight: 6, arbitrary: fc.record({ op: kind("refresh"), which }) },
  { weight: 3, arbitrary: fc.record({ op: kind("use"), which }) },
  { weight: 1, arbitrary: fc.record({ op: kind("revoke"), which }) },
  { weight: 1, arbitrary: fc.record({ op: kind("signOut"), user }) },
  { weight: 1, arbitrary: fc.record({ op: kind("suspend"), user }) },
  { weight: 1, arbitrary: fc.record({ op: kind("sweep") }) },
  { weight: 7, arbitrary: fc.record({ op: kind("advance"), seconds: moment }) },
  { weight: 2, arbitrary: fc.record({ op: kind("advance"), seconds: pause }) },
  { weight: 1, arbitrary: fc.record({ op: kind("advance"), seconds: absence }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface Session {
  browser: Browser;
  user: number;
  endsAt: number;
  ended: boolean;
}

interface Login {
  codes: { deviceCode: string; linkToken: string; userCode: string };
  state: "pending" | "approved" | "refused" | "redeemed" | "gone";
  expiresAt: number;
  polledAt: number | undefined;
  user: number | undefined;
  session: Session | undefined;
}

interface Family {
  user: number;
  revoked: boolean;
  endsAt: number;
}

interface Token {
  family: Family;
  refreshToken: string;
  accessToken: string;
  accessEndsAt: number;
  endsAt: number;
  rotatedAt: number | undefined;
  /** the one token that replaced it */
  successor: Token | undefined;
}

/** Random sequences may miss a rare outcome. This sequence contains all outcomes, so the model is known to predict each. */
const TO_EVERY_OUTCOME: Step[] = [
  { op: "request" },
  { op: "decide", which: 0, user: 0, decision: "approve" },
  { op: "poll", which: 0, gaps: [1] },
  { op: "claim", which: 0, user: 0, typed: false },
  { op: "claim", which: 0, user: 1, typed: false },
  { op: "decide", which: 0, user: 1, decision: "approve" },
  { op: "decide", which: 0, user: 0, decision: "approve" },
  { op: "decide", which: 0, user: 0, decision: "approve" },
  { op: "claim", which: 0, user: 0, typed: true },
  { op: "advance", seconds: INTERVAL },
  { op: "poll", which: 0, gaps: [INTERVAL] },
  { op: "use", which: 0 },
  { op: "refresh", which: 0 },
  { op: "advance", seconds: GRACE + 1 },
  { op: "refresh", which: 1 },
  { op: "use", which: 0 },
  { op: "logIn", user: 1, decision: "refuse", signsOut: false },
  { op: "request" },
  { op: "advance", seconds: CODE_LIFE },
  { op: "poll", which: 0, gaps: [] },
];

/** Every outcome that the model can predict. */
const OUTCOMES = [
  ...["fine", "slow_down", "expired_token", "authorization_pending", "access_denied", "invalid_grant"].map(
    (outcome) => `poll ${outcome}`,
  ),
  ...["fine", "device_login.unavailable", "device_login.claimed"].map((outcome) => `claim ${outcome}`),
  ...["fine", "device_login.unavailable", "device_login.claimed", "device_login.unclaimed"].map(
    (outcome) => `decide ${outcome}`,
  ),
  ...["refresh fine", "refresh reused", "refresh invalid_grant", "use true", "use false"],
];

/** The model and the product: each step predicts an outcome, runs the operation, and compares. */
class Run {
  readonly logins: Login[] = [];
  readonly tokens: Token[] = [];
  readonly sessions: (Session | undefined)[] = [];
  readonly families: Family[] = [];

  constructor(
    readonly world: LoginWorld,
    readonly users: readonly User[],
    readonly met: Set<string>,
  ) {}

  get now(): number {
    return this.world.clock.nowMs() / 1_000;
  }

  async take(step: Step): Promise<void> {
    switch (step.op) {
      case "request":
        return await this.request();
      case "logIn":
        return await this.logIn(step);
      case "poll":
        return await this.polls(at(this.logins, step.which), step.gaps);
      case "claim":
        return await this.claim(at(this.logins, step.which), step);
      case "decide":
        return await this.decide(at(this.logins, step.which), step);
      case "refresh":
        return await this.refresh(at(this.tokens, step.which));
      case "use":
        return await this.use(at(this.tokens, step.which));
      case "revoke":
        return await this.revoke(at(this.tokens, step.which));
      case "signOut":
        return await this.signOut(step.user);
      case "suspend":
        return await this.suspend(step.user);
      case "sweep":
        return await this.sweep();
      case "advance":
        return afterSeconds(this.world, step.seconds);
    }
  }

  async request(): Promise<void> {
    const codes = await requestLogin(this.world);
    const fresh = { polledAt: undefined, user: undefined, session: undefined };
    this.logins.push({ codes, state: "pending", expiresAt: this.now + CODE_LIFE, ...fresh });
  }

  /** A complete login, so that sequences reach the steps after it. */
  async logIn(way: { user: number; decision: "approve" | "refuse"; signsOut: boolean }): Promise<void> {
    await this.request();
    const login = at(this.logins, 0);
    await this.claim(login, { user: way.user, typed: false });
    await this.decide(login, way);
    if (way.signsOut) await this.signOut(way.user);
    await this.poll(login);
  }

  async polls(login: Login | undefined, gaps: readonly number[]): Promise<void> {
    await this.poll(login);
    for (const seconds of gaps) {
      afterSeconds(this.world, seconds);
      await this.poll(login);
    }
  }

  async poll(login: Login | undefined): Promise<void> {
    if (!login) return;
    const expected = this.expectedPoll(login);
    const response = redeem(this.world, login.codes.deviceCode);
    expect(await refusalOf(response)).toBe(expected);
    this.met.add(`poll ${expected}`);
    if (expected !== "fine") return;
    const family = { user: login.user ?? -1, revoked: false, endsAt: this.now };
    login.state = "redeemed";
    this.families.push(family);
    this.add(family, await response);
  }

  expectedPoll(login: Login): string {
    if (login.state === "gone" || login.state === "redeemed") return "invalid_grant";
    if (login.polledAt !== undefined && this.now < login.polledAt + INTERVAL) return "slow_down";
    login.polledAt = this.now;
    if (this.now >= login.expiresAt) return "expired_token";
    if (login.state === "pending") return "authorization_pending";
    if (login.state === "refused") return "access_denied";
    return this.isOpen(login.session) ? "fine" : "invalid_grant";
  }

  async claim(login: Login | undefined, { user, typed }: { user: number; typed: boolean }): Promise<void> {
    if (!login) return;
    const { actor } = await this.browserOf(user);
    const { linkToken, userCode } = login.codes;
    const { deviceLogins } = this.world;
    const claimed = typed
      ? deviceLogins.claimByUserCode(actor, userCode)
      : deviceLogins.claim(actor, linkToken);
    const taken = typed ? "device_login.unavailable" : "device_login.claimed";
    const expected = this.canOpen(login)
      ? isFree(login, user)
        ? "fine"
        : taken
      : "device_login.unavailable";
    expect(await refusalOf(claimed)).toBe(expected);
    this.met.add(`claim ${expected}`);
    if (expected === "fine") login.user = user;
  }

  async decide(
    login: Login | undefined,
    { user, decision }: { user: number; decision: "approve" | "refuse" },
  ): Promise<void> {
    if (!login) return;
    const session = await this.sessionOf(user);
    const { actor, loginSessionId } = session.browser;
    const decided = this.world.deviceLogins.decide(actor, {
      linkToken: login.codes.linkToken,
      loginSessionId,
      decision,
    });
    const expected = this.expectedDecision(login, session);
    expect(await refusalOf(decided)).toBe(expected);
    this.met.add(`decide ${expected}`);
    if (expected !== "fine") return;
    login.state = decision === "approve" ? "approved" : "refused";
    login.session = session;
  }

  expectedDecision(login: Login, session: Session): string {
    if (!this.canOpen(login)) return "device_login.unavailable";
    if (login.user === undefined) return "device_login.unclaimed";
    return login.user === session.user ? "fine" : "device_login.claimed";
  }

  async refresh(token: Token | undefined): Promise<void> {
    if (!token) return;
    const expected = this.expectedRefresh(token);
    const response = refresh(this.world, token.refreshToken);
    expect(await refusalOf(response)).toBe(expected);
    this.met.add(`refresh ${expected}`);
    if (expected !== "fine") return;
    if (token.successor) return expectRepeated(newestAfter(token), await response);
    token.rotatedAt = this.now;
    token.successor = this.add(token.family, await response);
  }

  expectedRefresh(token: Token): string {
    if (token.family.revoked || this.now >= token.family.endsAt) return "invalid_grant";
    const isRotated = token.rotatedAt !== undefined && this.now > token.rotatedAt + GRACE;
    if (isRotated || this.now >= token.endsAt) {
      token.family.revoked = true;
      this.met.add("refresh reused");
      return "invalid_grant";
    }
    return "fine";
  }

  async use(token: Token | undefined): Promise<void> {
    if (!token) return;
    const isGood = !token.family.revoked && this.now < token.accessEndsAt + TOLERANCE;
    const used = Promise.resolve().then(() => this.world.authenticator.bearer(token.accessToken));
    expect((await refusalOf(used)) === "fine").toBe(isGood);
    this.met.add(`use ${isGood}`);
  }

  async revoke(token: Token | undefined): Promise<void> {
    if (!token) return;
    const revoked = this.world.grants.revoke({ token: token.refreshToken, clientId: OAUTH_CLIENT_ID });
    expect(await refusalOf(revoked)).toBe("fine");
    token.family.revoked = true;
  }

  async signOut(user: number): Promise<void> {
    const session = this.sessions[user];
    if (!session) return;
    await this.world.sessions.end(session.browser.sessionToken, session.browser.actor);
    session.ended = true;
  }

  /** Suspends and resumes: logins that the suspension ended stay ended. */
  async suspend(user: number): Promise<void> {
    const { id } = this.users[user] ?? { id: "" };
    await this.world.identity.users.setStatus(this.world.system, id, "suspended");
    await this.world.identity.users.setStatus(this.world.system, id, "active");
    for (const session of this.sessions) if (session?.user === user) session.ended = true;
    for (const family of this.families) if (family.user === user) family.revoked = true;
    for (const login of this.logins) {
      if (login.user === user && (login.state === "pending" || login.state === "approved"))
        login.state = "gone";
    }
  }

  async sweep(): Promise<void> {
    await sweepLogins(this.world, new AbortController().signal);
    for (const login of this.logins) if (this.now >= login.expiresAt + CODE_KEPT) login.state = "gone";
  }

  add(family: Family, response: Awaited<ReturnType<typeof refresh>>): Token {
    family.endsAt = this.now + REFRESH_LIFE;
    const token: Token = {
      family,
      refreshToken: response.refresh_token ?? "",
      accessToken: response.access_token,
      accessEndsAt: response.expires_at,
      endsAt: this.now + REFRESH_LIFE,
      rotatedAt: undefined,
      successor: undefined,
    };
    this.tokens.push(token);
    return token;
  }

  canOpen(login: Login): boolean {
    return login.state === "pending" && this.now < login.expiresAt;
  }

  isOpen(session: Session | undefined): boolean {
    return session !== undefined && !session.ended && this.now < session.endsAt;
  }

  /** The user's browser, signed in again if necessary. */
  async sessionOf(user: number): Promise<Session> {
    const known = this.sessions[user];
    if (known && this.isOpen(known)) return known;
    const browser = await signIn(this.world, this.users[user]);
    const session = { browser, user, endsAt: this.now + SESSION_LIFE, ended: false };
    this.sessions[user] = session;
    return session;
  }

  async browserOf(user: number): Promise<Browser> {
    return (await this.sessionOf(user)).browser;
  }
}

const newestAfter = (token: Token): Token => (token.successor ? newestAfter(token.successor) : token);

/** A token that was rotated within the grace window returns the newest one again, and nothing with a longer lifetime. */
function expectRepeated(newest: Token, response: Awaited<ReturnType<typeof refresh>>): void {
  expect(response).toMatchObject({ refresh_token: newest.refreshToken, expires_at: newest.accessEndsAt });
}

const at = <T>(items: readonly T[], index: number): T | undefined =>
  items.length === 0 ? undefined : items.at(-1 - (index % items.length));

const isFree = (login: Login, user: number): boolean => login.user === undefined || login.user === user;

test(
  "the service answers like the model for any sequence of actions",
  async () => {
    const unlimited = {
      deviceCodesPerAddress: 1e9,
      pendingLoginsPerAddress: 1e9,
      pendingLoginsPerNetwork: 1e9,
      userCodeGuessesPerUser: 1e9,
      userCodeGuessesPerAddress: 1e9,
    };
    await using world = await createLoginWorld({ limits: unlimited });
    let sequence = 0;
    const met = new Set<string>();
    const steps = fc.array(step, { minLength: STEPS_MIN, maxLength: STEPS_MAX, size: "max" });
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        sequence += 1;
        const users: User[] = [];
        for (let index = 0; index < USERS; index += 1) {
          users.push(await addUser(world, `user${index}.${sequence}@example.com`));
        }
        const run = new Run(world, users, met);
        for (const step of steps) await run.take(step);
        const rows = world.db.read.select().from(grants).all();
        const open = rows.filter(
          (row) => users.some(({ id }) => id === row.userId) && row.revokedAtMs === null,
        );
        expect(open.length).toBeLessThanOrEqual(run.families.filter(({ revoked }) => !revoked).length);
      }),
      { numRuns: SEQUENCES, examples: [[TO_EVERY_OUTCOME]] },
    );
    expect(OUTCOMES.filter((outcome) => !met.has(outcome))).toEqual([]);
  },
  TIME_LIMIT_MS,
);
