// A proxy of a JSON value that allows a limited number of reads. Schema validation visits the whole value even if only the
// last of 250,000 elements is wrong; the limit stops it.

/** Thrown when the read limit is reached. */
export class MeterSpent extends Error {}

/**
 * @param value JSON value
 * @param readsMax limit on members and elements read
 * @returns a read-only view of the value
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
