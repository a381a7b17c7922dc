-- Writes no longer merge parts of the index of host names: removing ten workstations rewrote up to a third of it. The hourly job
-- merges it, a few pages in each transaction. New workstations still merge sixteen parts of one size, which is little.
INSERT INTO client_search (client_search, rank) VALUES ('automerge', 0);
