#!/usr/bin/env bash
# Builds packages into dist/: the program, its manual pages and shell completions, and by nfpm what is asked for.
#
#   VERSION=1.2.3 [ARCH=amd64|arm64] scripts/package.sh deb [rpm]
#
# nfpm is taken from the path, or else run by `go run` with the version below (it needs the Go module proxy).
set -euo pipefail
cd "$(dirname "$0")/.."
nfpm_version=v2.44.0
version=${VERSION:?say which: VERSION=1.2.3 $0 deb}
arch=${ARCH:-$(go env GOARCH)}
[ $# -gt 0 ] || { echo "say what to build: deb, rpm" >&2; exit 2; }
rm -rf dist && mkdir -p dist/man dist/completion
build() { CGO_ENABLED=0 GOARCH=$1 go build -trimpath -ldflags "-s -w -X main.released=$version" -o "$2" ./cmd/sitemapd; }
build "$arch" dist/sitemapd
# Pages and completions are written by a program that runs here, whatever it is built for.
here=dist/sitemapd
if [ "$arch" != "$(go env GOHOSTARCH)" ]; then here=dist/here && build "$(go env GOHOSTARCH)" "$here"; fi
"$here" man dist/man
gzip -9n dist/man/*.1
"$here" completion bash >dist/completion/sitemapd.bash
"$here" completion zsh >dist/completion/_sitemapd
"$here" completion fish >dist/completion/sitemapd.fish
nfpm=(go run "github.com/goreleaser/nfpm/v2/cmd/nfpm@$nfpm_version")
! command -v nfpm >/dev/null || nfpm=(nfpm)
for kind in "$@"; do
  VERSION=$version ARCH=$arch "${nfpm[@]}" package -f deploy/packaging/nfpm.yaml -p "$kind" -t dist/
done
ls -l dist/*.deb dist/*.rpm 2>/dev/null || true
