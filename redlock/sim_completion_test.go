package redlock

// simCompletion is what the observer knows of the one job, "j". What a finish
// wrote is known by its hash: who adopts it gives it another token.
type simCompletion struct {
	hash    string // of the record that is committed; "": none that counts
	since   int64  // step
	intact  bool   // a majority has kept it ever since
	voiding int    // calls of Void under way
	voided  int64  // step in which the last began or ended
}

// complete checks claim 5 for a tenure that may run the job: nobody finished it
// before the attempt began, or too few nodes remember.
func (w *simWorld) complete(t *simTenure) {
	if c := w.completion; t.claim.Record != "" && c.hash != "" && c.intact && t.began > c.since && w.kept(c.hash) > len(w.nodes)/2 {
		w.violate(claimCompletion, "%d runs a job that %s finished", t.lease.token, c.hash)
	}
}

// committed notes that a majority keeps a record: its finish said so, or somebody
// was told that the job is done.
func (w *simWorld) committed(hash string, won int64) {
	w.checking.Lock()
	defer w.checking.Unlock()
	c := &w.completion
	if c.voiding > 0 || won <= c.voided {
		return // whichever came last
	}
	if c.hash != "" && c.intact && c.hash != hash {
		w.violate(claimCompletion, "%s finished the job after %s", hash, c.hash)
	}
	if c.hash != hash {
		*c = simCompletion{hash: hash, since: w.steps.Load(), voided: c.voided}
	}
	c.intact = w.kept(hash) > len(w.nodes)/2
}

// answeredDone learns from a caller that was told that the job is done.
func (w *simWorld) answeredDone(d *DoneError) {
	w.checking.Lock()
	known := false
	for _, f := range w.fences["j"] {
		known = known || f.token == d.Record.Token
	}
	if !known { // no tenure that anybody was given: it was adopted
		w.counts.adopted++
		w.learn("j", d.Record.Token)
	}
	w.checking.Unlock()
	w.committed(d.Record.Hash, w.steps.Load())
}

// void takes the record back. While that goes on, either may be true.
func (w *simWorld) void(call func() error) error {
	note := func(more int) {
		w.checking.Lock()
		defer w.checking.Unlock()
		w.completion = simCompletion{voiding: w.completion.voiding + more, voided: w.steps.Load()}
	}
	note(1)
	defer note(-1)
	return call()
}

// forgot counts again who keeps the record, after a node lost data.
func (w *simWorld) forgot() {
	w.checking.Lock()
	defer w.checking.Unlock()
	if c := &w.completion; c.hash != "" && w.kept(c.hash) <= len(w.nodes)/2 {
		c.intact = false
	}
}

// kept is how many nodes keep a record.
func (w *simWorld) kept(hash string) (n int) {
	for _, node := range w.nodes {
		text := node.dump()[w.cfg.Namespace+"done:j"]
		if c, err := parseDone(text); err == nil && c.kind == kindDone && c.record.Hash == hash {
			n++
		}
	}
	return n
}
