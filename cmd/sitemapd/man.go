package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand writes the manual from the commands themselves. The roff is ours: cobra's generator would link a Markdown
// renderer into the daemon.
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages of all commands to a folder",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			written := 0
			for name, page := range manuals(cmd.Root()) {
				if err := os.WriteFile(filepath.Join(args[0], name), page, 0o644); err != nil {
					return err
				}
				written++
			}
			fmt.Fprintf(a.errOut, "%d manual pages in %s\n", written, args[0])
			return nil
		},
	}
}

// manuals gives each command's page by its file name.
func manuals(root *cobra.Command) map[string][]byte {
	pages := map[string][]byte{}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "help" || strings.HasPrefix(cmd.CommandPath(), "sitemapd completion ") {
			return
		}
		pages[manName(cmd)+".1"] = manual(cmd)
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return pages
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manDate is the day of the commit that the program was built from, so that the same program writes the same bytes.
func manDate() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.time" && len(s.Value) >= len(time.DateOnly) {
				return s.Value[:len(time.DateOnly)]
			}
		}
	}
	return "2026-11-30"
}

// manual writes one page.
func manual(cmd *cobra.Command) []byte {
	var b bytes.Buffer
	section := func(name string) { fmt.Fprintf(&b, ".SH %s\n", name) }
	fmt.Fprintf(&b, ".TH %s 1 %q \"sitemapd\" \"sitemapd manual\"\n", quoted(strings.ToUpper(manName(cmd))), manDate())
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	section("SYNOPSIS")
	use := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		use = cmd.CommandPath() + " COMMAND [flags]"
	}
	fmt.Fprintf(&b, ".B %s\n", roff(use))
	section("DESCRIPTION")
	paragraphs(&b, orDefault(cmd.Long, cmd.Short+"."))
	if cmd.HasAvailableSubCommands() {
		section("COMMANDS")
		for _, sub := range cmd.Commands() {
			if !sub.Hidden && sub.Name() != "help" {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(sub.Name()), roff(sub.Short))
			}
		}
	}
	options := func(name string, flags *pflag.FlagSet) {
		if !flags.HasAvailableFlags() {
			return
		}
		section(name)
		flags.VisitAll(func(f *pflag.Flag) { option(&b, f) })
	}
	options("OPTIONS", cmd.NonInheritedFlags())
	options("COMMON OPTIONS", cmd.InheritedFlags())
	if cmd.Example != "" {
		section("EXAMPLES")
		fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(cmd.Example))
	}
	if !cmd.HasParent() {
		section("ENVIRONMENT")
		paragraphs(&b, "Every setting has a variable: SITEMAPD_DATABASE, SITEMAPD_LISTEN, SITEMAPD_SYNC_SCHEDULE and so on; `sitemapd config print` shows all. "+
			"A secret may stand in a file that a variable ending in _FILE names.")
	}
	section("SEE ALSO")
	fmt.Fprintf(&b, "%s\n", roff(strings.Join(related(cmd), ", ")))
	return b.Bytes()
}

func related(cmd *cobra.Command) []string {
	var names []string
	if cmd.HasParent() {
		names = append(names, manName(cmd.Parent())+"(1)")
	}
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			names = append(names, manName(sub)+"(1)")
		}
	}
	return append(names, "https://github.com/sitemapd/sitemapd")
}

func option(b *bytes.Buffer, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	kind, usage := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	fmt.Fprintf(b, ".TP\n\\fB%s\\fR", roff(name))
	if kind != "" {
		fmt.Fprintf(b, " \\fI%s\\fR", roff(kind))
	}
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" {
		usage += " (default: " + f.DefValue + ")"
	}
	fmt.Fprintf(b, "\n%s\n", roff(usage))
}

// paragraphs writes text whose blank lines part paragraphs and whose indented lines stay as they are.
func paragraphs(b *bytes.Buffer, text string) {
	for i, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(part, " ") {
			fmt.Fprintf(b, ".nf\n%s\n.fi\n", roff(part))
			continue
		}
		b.WriteString(roff(part) + "\n")
	}
}

// roff escapes a text: backslashes, hyphens that are meant as such, and lines that would be requests. Characters beyond
// ASCII are written as their code points, which every formatter knows.
func roff(text string) string {
	var b strings.Builder
	for _, line := range strings.SplitAfter(text, "\n") {
		line = strings.TrimRight(line, " \t\n") + map[bool]string{true: "\n"}[strings.HasSuffix(line, "\n")]
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			b.WriteString(`\&`)
		}
		for _, r := range line {
			switch {
			case r == '\\':
				b.WriteString(`\e`)
			case r == '-':
				b.WriteString(`\-`)
			case r > 0x7e:
				fmt.Fprintf(&b, `\[u%04X]`, r)
			default:
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

func quoted(text string) string { return `"` + strings.ReplaceAll(roff(text), `"`, `\(dq`) + `"` }
