package export

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sitemapd/sitemapd/models"
)

// Staged collects the files of an output in a folder under temporary names. Until Commit nothing that was there is
// touched and nothing half-written has a name that somebody might read.
type Staged struct {
	dir     string
	replace bool
	files   []stagedFile
}

type stagedFile struct {
	name, temporary string
	open            *os.File // nil when closed
	size            int64
}

// Stage prepares for files in an existing folder. With replace, files of the same names give way to the new ones.
func Stage(dir string, replace bool) (*Staged, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, models.Invalid("out", "create it first", "there is no folder %s", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("stage files: %w", err)
	}
	if !info.IsDir() {
		return nil, models.Invalid("out", "name a folder", "%s is no folder", dir)
	}
	return &Staged{dir: dir, replace: replace}, nil
}

// Check tells whether a file of this name may be written: a *models.InvalidError when it may not.
func (s *Staged) Check(name string) error {
	path := filepath.Join(s.dir, name)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at %s: %w", path, err)
	case info.IsDir():
		return models.Invalid("out", "choose another name", "%s is a folder", path)
	case info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe|fs.ModeSocket|fs.ModeIrregular) != 0:
		return models.Invalid("out", "write to standard output instead", "%s is no ordinary file", path)
	case !s.replace:
		return models.Invalid("out", "choose another name, or replace it with --force", "%s exists", path)
	}
	return nil
}

// Create starts a file.
func (s *Staged) Create(name string) (io.WriteCloser, error) {
	if err := s.Check(name); err != nil {
		return nil, err
	}
	temporary := filepath.Join(s.dir, "."+name+"."+rand.Text()[:12]+".part")
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("write to %s: %w", s.dir, err)
	}
	s.files = append(s.files, stagedFile{name: name, temporary: temporary, open: f})
	return &stagedWriter{s, len(s.files) - 1}, nil
}

// Rename gives a file that was created another name.
func (s *Staged) Rename(from, to string) error {
	if err := s.Check(to); err != nil {
		return err
	}
	for i := range s.files {
		if s.files[i].name == from {
			s.files[i].name = to
			return nil
		}
	}
	return fmt.Errorf("rename %s: it was not created", from)
}

// Commit gives all files their names, in the order in which they were created: an index comes after what it lists.
// When one of them may not be written, none is.
func (s *Staged) Commit() error {
	for i := range s.files {
		if err := s.Check(s.files[i].name); err != nil {
			return err
		}
	}
	for len(s.files) > 0 {
		f := &s.files[0]
		if err := os.Rename(f.temporary, filepath.Join(s.dir, f.name)); err != nil {
			return fmt.Errorf("name %s: %w", f.name, err)
		}
		s.files = s.files[1:]
	}
	return nil
}

// Abort removes what Commit has not named; after Commit there is nothing left to do.
func (s *Staged) Abort() {
	for _, f := range s.files {
		if f.open != nil {
			_ = f.open.Close()
		}
		_ = os.Remove(f.temporary)
	}
	s.files = nil
}

// Names lists the files that are staged and their sizes in bytes, to be asked for before Commit.
func (s *Staged) Names() (names []string, bytes int64) {
	for _, f := range s.files {
		names = append(names, f.name)
		bytes += f.size
	}
	return names, bytes
}

// stagedWriter writes one file, and brings it to the disk before it may get its name.
type stagedWriter struct {
	staged *Staged
	n      int
}

func (w *stagedWriter) Write(b []byte) (int, error) {
	f := &w.staged.files[w.n]
	n, err := f.open.Write(b)
	f.size += int64(n)
	return n, err
}

func (w *stagedWriter) Close() error {
	f := &w.staged.files[w.n]
	if f.open == nil {
		return nil
	}
	err := errors.Join(f.open.Sync(), f.open.Close())
	f.open = nil
	if err != nil {
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	return nil
}
