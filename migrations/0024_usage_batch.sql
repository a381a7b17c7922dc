-- The last batch of usage sums that was taken from the file of the request log. A crash between the two files leaves the batch
-- there, and this row shows that its sums are counted.
CREATE TABLE inference_usage_batch (
  only_row INTEGER PRIMARY KEY,
  batch TEXT NOT NULL,
  CONSTRAINT inference_usage_batch_only_row CHECK (only_row = 1)
) STRICT;
