// Reads PHP files as an older PHP would: node lint.mjs VERSION FILE...   one line a problem, exit code 1 when there is one.
//
// The grammar is that of npm's php-parser (its version option), which knows most of what each version added. What it lets
// pass on versions that do not know it is looked for in the tree: union types, promoted and readonly properties, types
// that are keywords only later, numbers with separators. `--self-test` shows that each of these is found.
import fs from 'node:fs';
import { createRequire } from 'node:module';

const engine = createRequire(process.env.SD_NODE_MODULES || import.meta.url)('php-parser');

const since = { uniontype: 8.0, intersectiontype: 8.1 };
const typeNames = { mixed: 8.0, static: 8.0, never: 8.1, true: 8.2, null: 8.2, false: 8.2, object: 7.2, iterable: 7.1, void: 7.1 };

function later(node, found) {
  if (Array.isArray(node)) return node.forEach((n) => later(n, found));
  if (!node || typeof node !== 'object' || !node.kind) return;
  const line = node.loc?.start?.line ?? 0;
  if (since[node.kind]) found.push([since[node.kind], line, node.kind]);
  if (node.kind === 'parameter' && node.flags) found.push([8.0, line, 'promoted property']);
  if (node.readonly) found.push([8.1, line, 'readonly']);
  if (node.kind === 'number' && /_/.test(node.loc?.source ?? '')) found.push([7.4, line, 'separator in a number']);
  for (const type of [node.type, node.kind === 'parameter' || node.kind === 'property' ? node.type : null, node.returnType]) {
    const name = type && typeof type === 'object' && (type.raw || type.name);
    const from = typeof name === 'string' && typeNames[name.toLowerCase()];
    if (from) found.push([from, line, `type ${name}`]);
  }
  for (const [key, value] of Object.entries(node)) if (key !== 'loc' && key !== 'leadingComments') later(value, found);
}

function problems(version, code, name) {
  const parser = new engine.Engine({ parser: { version, suppressErrors: false }, ast: { withPositions: true, withSource: true } });
  let tree;
  try {
    tree = parser.parseCode(code, name);
  } catch (e) {
    return [`${name}: ${e.message}`];
  }
  const found = [];
  later(tree.children, found);
  return [...new Set(found.filter(([from]) => from > Number(version)).map(([from, line, what]) => `${name}:${line}: ${what} needs PHP ${from.toFixed(1)}`))];
}

const newer = [
  [7.4, 'class A { public int $x; }'], [7.4, '$f = fn( $x ) => $x;'], [7.4, '$a ??= 1;'], [7.4, '$x = 1_000;'], [7.4, '$x = [ ...$a ];'],
  [7.3, 'f( 1, 2, );'], [8.0, 'function f( int|string $a ) {}'], [8.0, 'function f(): int|string {}'], [8.0, '$x = $a?->b;'],
  [8.0, '$x = match ( 1 ) { 1 => 2 };'], [8.0, 'class A { function __construct( private $x ) {} }'], [8.0, 'f( a: 1 );'],
  [8.0, 'function f( $a, ) {}'], [8.0, 'try { f(); } catch ( E ) {}'], [8.0, '$x = $y ?? throw new E();'], [8.0, 'function f( mixed $a ) {}'],
  [8.0, 'class A { function f(): static {} }'], [8.1, 'enum A { case B; }'], [8.1, '$f = f(...);'], [8.1, 'function f(): never {}'],
  [8.1, 'class A { public readonly int $x; }'],
];

const [version, ...files] = process.argv.slice(2);
let bad = 0;
if (version === '--self-test') {
  for (const [from, code] of newer) {
    for (const v of [7.2, 7.3, 7.4, 8.0, 8.1]) {
      const got = problems(v.toFixed(1), `<?php ${code}`, 'x').length > 0;
      if (got !== v < from) bad = console.log(`PHP ${v.toFixed(1)} and ${code}: ${got ? 'refused' : 'taken'}`) ?? 1;
    }
  }
} else {
  for (const file of files) for (const line of problems(version, fs.readFileSync(file, 'utf8'), file)) bad = console.log(`PHP ${version}: ${line}`) ?? 1;
}
process.exit(bad);
