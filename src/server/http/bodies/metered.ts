// A view of a value that can be read only so often. Finding out what is wrong with a value goes through all of it, also where only
// the last of 250,000 elements is wrong: whoever looks through the view is stopped there.

/** Thrown by a view that has been read as often as it may be. */
export class MeterSpent extends Error {}

/**
 * @param value JSON value
 * @param readsMax members and elements that may be read
 * @returns the same value to whoever only reads it
 */
export function metered(value: unknown, readsMax: number): unknown {
  let left = readsMax;
  const handler: ProxyHandler<object> = {
    get(target, name) {
      left -= 1;
      if (left < 0) throw new MeterSpent();
      return view(Reflect.get(target, name));
    },
  };
  const view = (part: unknown): unknown =>
    typeof part === "object" && part !== null ? new Proxy(part, handler) : part;
  return view(value);
}
