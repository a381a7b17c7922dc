// The admin operations of an inference gateway for creating and revoking keys, for the gateways of benchmarks. It has an index by
// user, unlike the gateway of the tests, because each call would otherwise scan 10,000 users.

interface Key {
  token: string;
  key_alias: string;
  user_id: string;
  metadata: unknown;
  expires: null;
  blocked: false;
}

export interface KeyDesk {
  answer(request: Request): Promise<unknown>;
  /** all keys */
  all(): { token: string; userId: string }[];
}

/** @param delayMs delay instead of the work of creating a key */
export function createKeyDesk(delayMs: number): KeyDesk {
  const byUser = new Map<string, Map<string, Key>>();
  const owners = new Map<string, string>();
  let made = 0;

  const keysOf = (userId: string): Key[] => [...(byUser.get(userId)?.values() ?? [])];

  function make({ user_id, key_alias, metadata }: { user_id: string; key_alias: string; metadata: unknown }) {
    made += 1;
    const token = `token-${made}`;
    const key: Key = { token, key_alias, user_id, metadata, expires: null, blocked: false };
    const theirs = byUser.get(user_id) ?? new Map();
    byUser.set(user_id, theirs.set(token, key));
    owners.set(token, user_id);
    return { key: `sk-${made}`, token, expires: null };
  }

  function remove(tokens: readonly string[]): void {
    for (const token of tokens) {
      byUser.get(owners.get(token) ?? "")?.delete(token);
      owners.delete(token);
    }
  }

  return {
    all: () => [...owners].map(([token, userId]) => ({ token, userId })),
    async answer(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/user/list") {
        const email = searchParams.get("user_email") ?? "";
        return { users: [{ user_id: email, user_email: email, teams: [] }], total_pages: 1 };
      }
      if (pathname === "/key/list")
        return { keys: keysOf(searchParams.get("user_id") ?? ""), total_pages: 1 };
      const body = await request.json();
      if (pathname === "/key/delete") {
        remove(body.keys);
        return { deleted_keys: body.keys };
      }
      // The key exists before the caller receives it, as in a real gateway.
      const key = make(body);
      await Bun.sleep(delayMs);
      return key;
    },
  };
}
