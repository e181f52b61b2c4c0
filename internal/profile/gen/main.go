// Gen rebuilds the catalogue snapshot of internal/profile from one pinned
// release of its source. It fetches that release with npm, refuses an archive
// with another hash, converts the chat models whose wire we speak, and says
// what changed. It is run by "make catalogue" and is no part of the product.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"tote/internal/profile"
)

// The release that the snapshot is made from. To move to a newer one, change
// the version, run this, compare the printed hash with the registry's and put
// it here.
const (
	sourcePackage = "@earendil-works/pi-ai"
	sourceVersion = "1.6.0"
	sourceSHA256  = "d68312ec574bc959cb7fee26da4f4876d067aed9bbbe76e876359e60d2294747"
	sourceLicence = "MIT"
)

func main() {
	out := flag.String("o", "catalogue.json.gz", "snapshot `file` to write")
	archive := flag.String("archive", "", "use this package archive `file` instead of fetching it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	report, err := run(ctx, *out, *archive)
	if err == nil {
		_, err = os.Stdout.WriteString(report)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		stop()
		os.Exit(1)
	}
}

// run writes the snapshot and returns what there is to say about it.
func run(ctx context.Context, out, archive string) (string, error) {
	data, err := source(ctx, archive)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != sourceSHA256 {
		return "", fmt.Errorf("%s %s has the hash %s, want %s", sourcePackage, sourceVersion, got, sourceSHA256)
	}
	files, err := unpack(data)
	if err != nil {
		return "", err
	}
	conv, err := convert(files)
	if err != nil {
		return "", err
	}
	meta := profile.Meta{
		Source: sourcePackage, Version: sourceVersion, SHA256: sourceSHA256,
		Date: conv.date, Licence: sourceLicence,
	}
	before, err := present(out)
	if err != nil {
		return "", err
	}
	file, err := profile.WriteCatalogue(meta, conv.records)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(out, file, 0o644); err != nil {
		return "", err
	}
	var report strings.Builder
	fmt.Fprintf(&report, "%s: %d models, %d bytes\n", out, len(conv.records), len(file))
	conv.report(&report)
	reportChanges(&report, before, conv.records)
	return report.String(), nil
}

// source returns the package archive, from a file if one is named.
func source(ctx context.Context, archive string) (_ []byte, err error) {
	if archive != "" {
		return os.ReadFile(archive)
	}
	dir, err := os.MkdirTemp("", "catalogue-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if archive, err = fetch(ctx, dir); err != nil {
		return nil, err
	}
	return os.ReadFile(archive)
}

// fetch puts the package archive into dir and returns its path.
func fetch(ctx context.Context, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, "npm", "pack", "--silent", sourcePackage+"@"+sourceVersion)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("fetch %s %s with npm: %w", sourcePackage, sourceVersion, err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("fetch %s: npm left %d archives, want 1", sourcePackage, len(found))
	}
	return found[0], nil
}

// present returns the records of the snapshot that is about to be replaced. An
// unreadable one, after a change of format, counts as empty.
func present(path string) ([]profile.Record, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	records, _, err := profile.ReadCatalogue(data)
	if errors.Is(err, profile.ErrSnapshot) {
		return nil, nil
	}
	return records, err
}
