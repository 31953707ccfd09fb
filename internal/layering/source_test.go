package layering_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sources parses every Go file of the repository, tests included, and names each by its path in it.
func sources(t *testing.T, visit func(path string, set *token.FileSet, file *ast.File)) {
	t.Helper()
	root, files := "../..", 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil // the compiler tells it better
		}
		files++
		relative, err := filepath.Rel(root, path)
		visit(filepath.ToSlash(relative), set, file)
		return err
	})
	if err != nil || files < 20 {
		t.Fatalf("%d files: %v", files, err)
	}
}

// The folder sync holds package syncer: whoever imports it says so, and nobody else calls anything sync.
func TestSource_BareSyncIsTheStandardLibrary(t *testing.T) {
	t.Parallel()
	sources(t, func(path string, set *token.FileSet, file *ast.File) {
		for _, imported := range file.Imports {
			name := ""
			if imported.Name != nil {
				name = imported.Name.Name
			}
			switch ours := imported.Path.Value == `"`+module+`/sync"`; {
			case ours && name != "syncer":
				t.Errorf("%s: import the engine as syncer", set.Position(imported.Pos()))
			case !ours && name == "sync":
				t.Errorf("%s: only the standard library's package is called sync", set.Position(imported.Pos()))
			}
		}
		if folder := filepath.ToSlash(filepath.Dir(path)); folder == "sync" {
			if name := strings.TrimSuffix(file.Name.Name, "_test"); name != "syncer" {
				t.Errorf("%s: package %s, want syncer", path, file.Name.Name)
			}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			var names []*ast.Ident
			switch n := node.(type) {
			case *ast.Field:
				names = n.Names
			case *ast.ValueSpec:
				names = n.Names
			case *ast.AssignStmt:
				if n.Tok == token.DEFINE {
					for _, left := range n.Lhs {
						if ident, ok := left.(*ast.Ident); ok {
							names = append(names, ident)
						}
					}
				}
			}
			for _, ident := range names {
				if ident.Name == "sync" {
					t.Errorf("%s: nothing of ours is called sync", set.Position(ident.Pos()))
				}
			}
			return true
		})
	})
}

// A pure package may speak of times but not ask for the present one.
func TestSource_PurePackagesHaveNoClock(t *testing.T) {
	t.Parallel()
	clock := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	sources(t, func(path string, set *token.FileSet, file *ast.File) {
		folder := filepath.ToSlash(filepath.Dir(path))
		if own, _ := of(folder); !own.pure || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(folder, "test") {
			return
		}
		ast.Inspect(file, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if of, ok := selector.X.(*ast.Ident); ok && of.Name == "time" && slices.Contains(clock, selector.Sel.Name) {
				t.Errorf("%s: time.%s in a pure package", set.Position(selector.Pos()), selector.Sel.Name)
			}
			return true
		})
	})
}

func TestSource_EveryPackageSaysWhatItPromises(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	sources(t, func(path string, _ *token.FileSet, file *ast.File) {
		folder := filepath.ToSlash(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		documented[folder] = documented[folder] || file.Doc != nil
	})
	for folder, ok := range documented {
		if !ok {
			t.Errorf("%s has no package comment (its place is doc.go)", folder)
		}
	}
}

func TestSource_FilesAreCalledByWhatTheyHold(t *testing.T) {
	t.Parallel()
	nothing := []string{"helpers.go", "helper.go", "misc.go", "types.go", "utils.go", "util.go", "common.go"}
	sources(t, func(path string, _ *token.FileSet, _ *ast.File) {
		if slices.Contains(nothing, filepath.Base(path)) {
			t.Errorf("%s: a name that says nothing", path)
		}
	})
}
