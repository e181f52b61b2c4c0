// Package spell finds the name that somebody meant who misspelt it. It compares
// short names only, never text. Any package may import it; it imports none.
package spell
