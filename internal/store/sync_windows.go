package store

import "os"

// syncDir does nothing: Windows cannot sync a folder, and NTFS journals names.
func syncDir(*os.Root) error { return nil }
