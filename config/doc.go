// Package config gives cmd/sitemapd its settings: defaults, then the configuration
// file, then SITEMAPD_* variables, then flags, the later winning.
//
// It promises that nothing is guessed: a key that does not exist is refused by name
// with the nearest one that does, a value that cannot be is refused with what to write
// instead, and all problems are told at once, each with the file and line, variable or
// flag that it came from. Secrets come from a file where wanted (database_file,
// SITEMAPD_DATABASE_FILE) and are never printed, not even in an error.
//
// Every layer is read as text and parsed by one parser a type, so that `off`, `007` and
// `2m` mean the same in a file, a variable and a flag. viper puts the layers over each
// other; it is used nowhere else in the program.
//
// It is imported by cmd alone. Of ours it imports sync/schedule, which is pure, so that
// a schedule is refused here and not when it would fire.
package config
