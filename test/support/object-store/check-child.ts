// A separate process for environment variables that the runtime reads at its start: checks the bucket of $STORE once and prints the
// result.
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
