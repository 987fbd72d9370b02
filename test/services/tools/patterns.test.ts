import { execFileSync, spawnSync } from 'node:child_process'
import { realpathSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { build, transform } from './helper.ts'

t.teardown(transform.close)

const LINES = [
  'total 42', 'total\t42', 'Total: 7', 'a total', 'start', 'restart', 'λ mu', 'Ωmega', 'x1y2', 'f(x) { return [1] }', '"quoted"',
  'a.b(c', 'aXb(c', 'foobar', 'foo|bar', 'foo bar', 'bar', 'aaaa', 'aaaaa', 'ab-cd', 'user@mail-host.org', '2024-02-29', 'word.',
  '', '   ', 'tab\there', 'é1', 'bcd', 'aeiou', '{"a": 1}', 'a++', '50% (off)', '<div class="x">', 'back\\slash', 'a/b/c', 'x=y',
  'aa bb aa', 'abab'
]
const TEXT = `${LINES.join('\n')}\n`

/** What each dialect means by a pattern, as its own program says. */
const ORACLES: Record<string, (pattern: string) => string[]> = {
  pcre: (pattern) => grep('-P', pattern),
  extended: (pattern) => grep('-E', pattern),
  basic: (pattern) => grep('-G', pattern),
  python: (pattern) => {
    const program = 'import re,sys\nfor line in sys.stdin.read().split("\\n")[:-1]:\n  if re.search(sys.argv[1], line): print(line)'
    return linesOf(execFileSync('python3', ['-X', 'utf8', '-c', program, pattern], { input: TEXT, encoding: 'utf8' }))
  }
}
const linesOf = (text: string) => text.split('\n').slice(0, -1)

function grep (flag: string, pattern: string): string[] {
  const env = { ...process.env, LC_ALL: 'C.UTF-8' }
  const { status, stdout, stderr } = spawnSync('grep', [flag, '-e', pattern], { input: TEXT, encoding: 'utf8', env })
  if (status === 2) throw new Error(stderr)
  return linesOf(stdout)
}

const PATTERNS: Record<string, string[]> = {
  pcre: [
    'total\\h42', '\\Atotal', 'start\\z', 'start\\Z', '\\p{Greek}', '\\p{L}u', '\\pL\\d', '\\p{^L}', '\\P{Greek}mega',
    '\\Qa.b(\\E', 'foo\\Kbar', '(?i)TOTAL', '(?<y>\\d{4})-\\d\\d', '(?P<y>a)b(?P=y)b', "(?'q'a)b\\k{q}b", '(a)b\\g{1}b',
    '(ab)\\1', '[^]]+', '[]x]', '\\x{3bb}', '(?#note)bar', '\\N+42', '\\H42', '[[:punct:]]$', '[[:^alpha:]]2$', '^[[:blank:]]+$',
    '\\"q', 'a\\-?b', '[\\w-]+@[\\w.-]+', '(?i:TOTAL) 42', '{"a"', '\\d{3,}', '[/]b', '\\e|bar'
  ],
  extended: [
    '[[:space:]][[:digit:]]+', '^[[:upper:]]', '[^[:space:]]+@', '\\<bar\\>', '(foo|a) bar', 'a{,4}b', 'a{5}', '[]]', '\\.$',
    '\\(off\\)', '[ab]X'
  ],
  basic: [
    'foo\\|start', '\\(ab\\)\\1', 'a\\{5\\}', 'x\\+', 'f(x) {', 'total\\s\\+42', '\\<foo\\>'
  ],
  python: [
    '(?P<n>aa) bb (?P=n)', '\\Atotal', 'start\\Z', '(?i)total', '[^]]+', '\\bbar\\b', '(?<!foo)bar', '\\$|\\%', '\\u00e9',
    '(?s)a.b', 'x{2}|a{4}'
  ]
}

t.test('a pattern of another dialect finds the lines that its own program finds', { skip: process.platform !== 'linux' }, async (t) => {
  const workspace = realpathSync(t.testdir({ 'f.txt': TEXT }))
  const { output } = build({ workspace })
  for (const [dialect, patterns] of Object.entries(PATTERNS)) {
    for (const pattern of patterns) {
      const { matches } = await output('searchFiles', { pattern })
      t.same(matches.map(({ line }: { line: number }) => LINES[line - 1]), ORACLES[dialect](pattern), `${dialect}: ${pattern}`)
    }
  }
})

t.test('classes that Java intersects are read', async (t) => {
  const { output } = build({ workspace: realpathSync(t.testdir({ 'f.txt': 'ax\nbx\n' })) })
  const linesFor = async (pattern: string) => (await output('searchFiles', { pattern })).matches.map(({ line }: { line: number }) => line)
  t.same(await linesFor('[a-z&&[^aeiou]]x'), [2])
  t.same(await linesFor('[a-z&&aeiou]x'), [1])
  t.same(await linesFor('[^a-z&&[^aeiou]]x'), [1])
})

t.test('what has no counterpart is refused with a sentence that names it, and is never "no match"', async (t) => {
  const { failure } = build({ workspace: realpathSync(t.testdir({ 'f.txt': 'a\n' })) })
  const refused: Record<string, RegExp> = {
    'a++b': /possessive repetition \+\+/,
    '(?>a)b': /atomic groups/,
    '(?R)': /recursion/,
    '(?(1)a|b)': /conditions/,
    '(?|a|b)': /reset their numbers/,
    '(*SKIP)a': /verbs/,
    '(?x) a b': /the flag \(\?x\)/,
    'a(?i)b': /flags such as \(\?i\) behind the beginning/,
    '\\ya': /has \\y.*To find a backslash, write \\\\/,
    '\\p{Nonsense}': /property \\p\{Nonsense\}/,
    '[[.hyphen.]]': /class with \[\./,
    '[[:nonsense:]]': /class \[:nonsense:\]/,
    'a[b': /\[ without its \]/,
    'a\\': /ends with a backslash/,
    'a(b': /Unterminated group/,
    '*a': /Nothing to repeat/
  }
  for (const [pattern, sentence] of Object.entries(refused)) t.match(await failure('searchFiles', { pattern }), sentence, pattern)
})

t.test('a pattern that finds nothing as it is, and something as one of grep, says so', async (t) => {
  const { output } = build({ workspace: realpathSync(t.testdir({ 'f.txt': 'one\ntwo\none|two\n', 'code.js': 'function f(x) {\n' })) })
  t.match(await output('searchFiles', { pattern: 'two\\|one$' }), {
    matches: [{ line: 1 }, { line: 2 }, { line: 3 }],
    message: /as operators after a backslash/
  })
  t.notMatch(await output('searchFiles', { pattern: 'one\\|two' }), { message: /operators/ }, 'the sign itself, where it stands there')
  t.match(await output('searchFiles', { pattern: 'f(x) {', path: 'code.js' }), { matches: [{ line: 1 }], message: /as plain text/ })
  t.match(await output('searchFiles', { pattern: 'three\\|four' }), { matches: [], message: /^No line matches/ })
})

t.test('accents are found in either form, and lines are shown as the file has them', async (t) => {
  const apart = 'Ende\nCafé Zoë, naïve\nÅngström 가\n'.normalize('NFD')
  const workspace = realpathSync(t.testdir({ 'apart.txt': apart, 'together.txt': apart.normalize('NFC') }))
  const { output } = build({ workspace })
  for (const form of ['NFC', 'NFD']) {
    for (const pattern of ['Café', 'f[é] Zoë', '가$', '^Å', 'Zoë,\\s']) {
      const { matches } = await output('searchFiles', { pattern: pattern.normalize(form), context: 1 })
      const line = /가|Å/.test(pattern.normalize('NFC')) ? 3 : 2
      t.same(matches.map(({ path, line, text }: any) => [path, line, text]), [
        ['apart.txt', line, apart.split('\n')[line - 1]],
        ['together.txt', line, apart.normalize('NFC').split('\n')[line - 1]]
      ], `${form} ${pattern}`)
    }
  }
  writeFileSync(`${workspace}/long.txt`, `${'é'.repeat(40)}\n`.repeat(30).normalize('NFD') + 'Ziel ä\nnach\n'.normalize('NFD'))
  const { matches } = await output('searchFiles', { pattern: 'Ziel ä\\nnach', path: 'long.txt' })
  t.match(matches, [{ line: 31, text: 'Ziel ä\nnach'.normalize('NFD') }])
})
