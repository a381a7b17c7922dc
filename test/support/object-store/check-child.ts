// A process of its own for variables that the runtime reads at its start: asks the bucket of $STORE once and prints what came of it.
import { bucketAt } from "./test-bucket.ts";

const { STORE: origin = "", CA: ca } = process.env;
console.log(
  await bucketAt(origin, { ca })
    .check()
    .then(
      () => "answered",
      (error) => error.reason,
    ),
);
