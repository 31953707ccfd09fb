// Package web is what people see: the dashboard's templates and its static files.
//
// It promises that every text from outside is escaped by its place in the page, that links
// to sites' pages are http or https or no links at all, and that a page needs no script:
// scripts only keep numbers on it up to date. Nothing is loaded from elsewhere.
//
// It imports models alone. Routes, reading of data and who may see what are in package handlers.
package web
