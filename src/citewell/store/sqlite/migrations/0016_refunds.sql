-- What a call cost by the price list, and what a billing service gave back because it failed.

ALTER TABLE call ADD COLUMN price INTEGER NOT NULL DEFAULT 0;
ALTER TABLE call ADD COLUMN refunded INTEGER NOT NULL DEFAULT 0;
