#!/bin/sh
# Fetches the viewer's files from its npm package and stores them compressed. Run it in this folder
# after changing the version; the checksums below are what was taken then.
set -eu
version=5.35.0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
(cd "$dir" && npm pack --silent "swagger-ui-dist@$version" >/dev/null && tar xzf ./*.tgz)
for name in swagger-ui-bundle.js swagger-ui.css; do
  # Source maps are not shipped, so nothing must ask for them.
  sed '/^\/[/*]# sourceMappingURL=/d' "$dir/package/$name" | gzip -9n > "files/$name.gz"
done
cp "$dir/package/LICENSE" files/LICENSE.txt
cp "$dir/package/NOTICE" files/NOTICE.txt
cp "$dir/package/swagger-ui-bundle.js.LICENSE.txt" files/swagger-ui-bundle.js.LICENSE.txt
(cd files && sha256sum -- *.gz > SHA256SUMS)
echo "swagger-ui-dist $version (npm), Apache-2.0; two files, compressed, source map lines removed." > files/VERSION.txt
