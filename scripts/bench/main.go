package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	if len(os.Args) < 2 {
		fatal("bench sync|screens|sites|origin|floor|profile; see scripts/bench.sh")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	var err error
	switch os.Args[1] {
	case "origin":
		err = origin(flags, os.Args[2:])
	case "floor":
		err = floor(ctx, flags, os.Args[2:])
	case "profile":
		err = profile(ctx, flags, os.Args[2:])
	case "screens":
		err = benchScreens(ctx, flags, os.Args[2:])
	case "sites":
		err = sites(ctx, flags, os.Args[2:])
	case "sync":
		err = benchSync(ctx, flags, os.Args[2:])
	default:
		err = fmt.Errorf("no benchmark %q", os.Args[1])
	}
	if err != nil {
		fatal(err)
	}
}

func fatal(problem any) {
	fmt.Fprintln(os.Stderr, "bench:", problem)
	os.Exit(1)
}
