package history

import (
	"context"
	"database/sql"
	"fmt"
	"math"
)

// Costs is what a session cost, in US dollars.
type Costs struct {
	// Turns has the turns whose cost is known, undone ones too: what was spent
	// is spent.
	Turns map[string]float64
	// Own is their sum, Children that of the sessions that worked for this one.
	Own, Children float64
}

// SaveCost records what a turn has cost so far, in US dollars.
func (db *DB) SaveCost(ctx context.Context, session, turnID string, dollars float64) error {
	what := "save cost of turn " + turnID + " of session " + session
	if math.IsNaN(dollars) || math.IsInf(dollars, 0) || dollars < 0 {
		return fmt.Errorf("%s: %v is no amount", what, dollars)
	}
	return db.relaxed(ctx, what, func(tx *sql.Tx) error {
		t, err := turnNum(ctx, tx, session, turnID)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE turn SET cost = ? WHERE num = ?", dollars, t)
		return err
	})
}

// Costs returns what a session cost. A fork starts at nothing.
func (db *DB) Costs(ctx context.Context, session string) (Costs, error) {
	c := Costs{Turns: map[string]float64{}}
	err := db.read(ctx, "read costs of session "+session, func(tx *sql.Tx) error {
		s, err := sessionNum(ctx, tx, session)
		if err != nil {
			return err
		}
		err = each(ctx, tx, func(rows *sql.Rows) error {
			var id string
			var dollars float64
			err := rows.Scan(&id, &dollars)
			c.Turns[id] = dollars
			c.Own += dollars
			return err
		}, "SELECT id, cost FROM turn WHERE session = ? AND cost IS NOT NULL ORDER BY seq", s)
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, "WITH RECURSIVE "+childrenOf+` SELECT coalesce(sum(t.cost), 0.0)
			FROM family f JOIN session s ON s.id = f.id JOIN turn t ON t.session = s.num WHERE f.id <> ?1`, session).Scan(&c.Children)
	})
	if err != nil {
		return Costs{}, err
	}
	return c, nil
}
