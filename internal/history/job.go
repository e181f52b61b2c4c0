package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// The states of jobs. Interrupted: the process ended before the job did.
const (
	JobRunning     = "running"
	JobDone        = "done"
	JobFailed      = "failed"
	JobStopped     = "stopped"
	JobInterrupted = "interrupted"
)

// Job is a piece of work in the background.
type Job struct {
	ID string
	// Parent is the session that gave it, Session the one that works on it.
	Parent, Session string
	Agent, Title    string
	// State is one of the states above.
	State string
	// Owner names the process in which it runs, in the caller's words: such
	// that no two processes ever have the same.
	Owner          string
	Started, Ended time.Time
	// Report is its answer or its error, for people and models.
	Report string
	// Reported: the session that gave it was told of its end.
	Reported bool
}

// SaveJob records a job, or what has changed of it. Its parent stays what it was.
func (db *DB) SaveJob(ctx context.Context, j Job) error {
	return db.durable(ctx, "save job "+j.ID, func(tx *sql.Tx) error {
		switch j.State {
		case JobRunning, JobDone, JobFailed, JobStopped, JobInterrupted:
		default:
			return fmt.Errorf("%q is no state of a job", j.State)
		}
		if j.ID == "" {
			return errors.New("a job needs an identifier")
		}
		parent, err := sessionNum(ctx, tx, j.Parent)
		if err != nil {
			return fmt.Errorf("session %s: %w", j.Parent, err)
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO job (id, parent, session, agent, title, state, owner, started, ended, report, reported)
			VALUES (?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE SET session = excluded.session, agent = excluded.agent,
			title = excluded.title, state = excluded.state, owner = excluded.owner, started = excluded.started,
			ended = excluded.ended, report = excluded.report, reported = excluded.reported`,
			j.ID, parent, j.Session, j.Agent, j.Title, j.State, j.Owner, nanos(j.Started), nanos(j.Ended), j.Report, j.Reported)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE session SET touched = ? WHERE num = ?", nanos(db.now()), parent)
		return err
	})
}

// Job returns one job; the error wraps ErrNotFound when there is none.
func (db *DB) Job(ctx context.Context, id string) (Job, error) {
	var list []Job
	err := db.read(ctx, "read job "+id, func(tx *sql.Tx) (err error) {
		if list, err = jobs(ctx, tx, "j.id = ?", id); err == nil && len(list) == 0 {
			err = ErrNotFound
		}
		return err
	})
	if err != nil {
		return Job{}, err
	}
	return list[0], nil
}

// Jobs lists the jobs that a session gave, oldest first.
func (db *DB) Jobs(ctx context.Context, session string) ([]Job, error) {
	var list []Job
	err := db.read(ctx, "list jobs of session "+session, func(tx *sql.Tx) (err error) {
		list, err = jobs(ctx, tx, "s.id = ?", session)
		return err
	})
	return list, err
}

// JobOwners lists the owners of running jobs.
func (db *DB) JobOwners(ctx context.Context) ([]string, error) {
	var out []string
	err := db.read(ctx, "list owners of jobs", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			var owner string
			err := rows.Scan(&owner)
			out = append(out, owner)
			return err
		}, "SELECT DISTINCT owner FROM job WHERE state = 'running' ORDER BY owner")
	})
	return out, err
}

// InterruptJobs ends the running jobs of an owner that is no more as
// interrupted, and returns them. The caller knows that it is no more.
func (db *DB) InterruptJobs(ctx context.Context, owner string) ([]Job, error) {
	var list []Job
	err := db.durable(ctx, "interrupt the jobs of "+owner, func(tx *sql.Tx) (err error) {
		if list, err = jobs(ctx, tx, "j.owner = ? AND j.state = 'running'", owner); err != nil {
			return err
		}
		now := db.now()
		for i := range list {
			list[i].State, list[i].Ended = JobInterrupted, now.UTC()
		}
		_, err = tx.ExecContext(ctx, "UPDATE job SET state = ?, ended = ? WHERE owner = ? AND state = 'running'", JobInterrupted, nanos(now), owner)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func jobs(ctx context.Context, tx *sql.Tx, where string, arg any) ([]Job, error) {
	var out []Job
	err := each(ctx, tx, func(rows *sql.Rows) error {
		var j Job
		var started, ended int64
		err := rows.Scan(&j.ID, &j.Parent, &j.Session, &j.Agent, &j.Title, &j.State, &j.Owner, &started, &ended, &j.Report, &j.Reported)
		j.Started, j.Ended = fromNanos(started), fromNanos(ended)
		out = append(out, j)
		return err
	}, `SELECT j.id, s.id, j.session, j.agent, j.title, j.state, j.owner, j.started, j.ended, j.report, j.reported
		FROM job j JOIN session s ON s.num = j.parent WHERE `+where+" ORDER BY j.num", arg)
	return out, err
}
