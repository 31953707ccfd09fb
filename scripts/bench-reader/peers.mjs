// Reads a document with a library of npm and prints the processor time in milliseconds and the number of pages.
// usage: peers.mjs sitemap|sitemapper FILE ROUNDS
import { createReadStream, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [, , library, file, rounds] = process.argv;
const require = createRequire(pathToFileURL(path.join(process.cwd(), "x.js")));
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);

async function withSitemap() {
  const { XMLToSitemapItemStream } = await load("sitemap");
  let n = 0;
  const quiet = () => {};
  for await (const _ of createReadStream(file).pipe(new XMLToSitemapItemStream({ logger: quiet }))) n++;
  return n;
}

async function withSitemapper() {
  const { default: Sitemapper } = await load("sitemapper");
  const body = readFileSync(file);
  const server = createServer((_, response) => response.setHeader("Content-Type", "application/xml").end(body));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { sites } = await new Sitemapper({ timeout: 120000 }).fetch(`http://127.0.0.1:${server.address().port}/s.xml`);
  server.close();
  return sites.length;
}

for (let i = 0; i < Number(rounds); i++) {
  const before = process.cpuUsage();
  const n = await (library === "sitemap" ? withSitemap() : withSitemapper());
  const used = process.cpuUsage(before);
  console.log(((used.user + used.system) / 1000).toFixed(1), n);
}
