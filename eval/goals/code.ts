import { answers, askedNothing, fileThat, nodeRuns, nothingElse, nowhere, untouched } from '../checks.ts'
import type { Files } from '../folder.ts'
import type { Goal } from '../goal.ts'

const PACKAGE = '{ "name": "shop", "private": true, "type": "module", "scripts": { "test": "node --test" } }\n'

/** Source code with two faults: in the comparison (the discount should begin at ten pieces), and in the rounding. */
export const PRICE = `/** The price of so many pieces, in cents: from ten pieces on a tenth less, rounded to whole cents. */
export function priceOf (pieces, each) {
  const price = pieces * each
  return pieces > 10 ? Math.floor(price * 0.9) : price
}
`
export const PRICE_TEST = `import assert from 'node:assert'
import test from 'node:test'
import { priceOf } from './price.js'

test('nine pieces have the full price', () => assert.equal(priceOf(9, 100), 900))
test('ten pieces cost a tenth less', () => assert.equal(priceOf(10, 100), 900))
test('cents are rounded', () => assert.equal(priceOf(11, 33), 327))
`
const MORE_PRICE_TESTS = `import assert from 'node:assert'
import test from 'node:test'
import { priceOf } from './price.js'

test('more prices', () => {
  const prices = [[1, 7], [9, 33], [10, 33], [12, 33], [13, 19], [14, 33]].map(([pieces, each]) => priceOf(pieces, each))
  assert.deepEqual(prices, [7, 297, 297, 356, 222, 416])
})
`

export const PAGES = Array.from({ length: 10 }, (_, at) => `src/page${at + 1}.js`)
const page = (at: number) =>
  `import { getUser } from './users.js'

export const page${at} = () => \`page ${at} of \${getUser(${at}).name}\`
`
const USERS = `const names = ['Ada', 'Ben', 'Cleo']

/** Finds a user; getUser never fails. */
export function getUser (id) {
  return { id, name: names[id % names.length] }
}

/** The public address of the call; clients depend on it. */
export const ADDRESS = '/api/getUser'
`
const REFACTORED: Files = {
  'package.json': PACKAGE,
  'CHANGELOG.md': '# 1.2\n- getUser never fails\n',
  'src/users.js': USERS,
  ...Object.fromEntries(PAGES.map((path, at) => [path, page(at + 1)])),
  'main.js': [
    "import { ADDRESS, getUser } from './src/users.js'",
    ...PAGES.map((path, at) => `import { page${at + 1} } from './${path}'`),
    `console.log([getUser(0).name, ADDRESS, ${PAGES.map((_path, at) => `page${at + 1}()`).join(', ')}].join('\\n'))`,
    ''
  ].join('\n')
}
const NAMES = ['Ada', 'Ben', 'Cleo']
const PRINTED = ['Ada', '/api/getUser', ...PAGES.map((_path, at) => `page ${at + 1} of ${NAMES[(at + 1) % 3]}`), ''].join('\n')
/** Matches the old name, except in the address. */
const OLD_NAME = /(?<!\/api\/)getUser/

const CACHE = `/** A cache of so many entries, first in, first out. */
export function createCache (most) {
  const entries = new Map()
  return {
    get (key) {
      if (!entries.has(key)) return undefined
      const value = entries.get(key)
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    set (key, value) {
      entries.delete(key)
      entries.set(key, value)
      if (entries.size > most) entries.delete(entries.keys().next().value)
    }
  }
}
`

const RULES = `# For agents
- Every new source file begins with the line \`// SPDX-License-Identifier: MIT\`.
- A function lies in a file of its name in lib/ and is its default export.
- Each function has a line in docs/functions.md: \`- name: what it does\`.
`
const SLUG_TEST = `import assert from 'node:assert'
import test from 'node:test'
import slug from './lib/slug.js'

test('slugs', () => {
  assert.equal(slug('Hello, World!'), 'hello-world')
  assert.equal(slug('  Two  blanks '), 'two-blanks')
  assert.equal(slug('A1 & B2'), 'a1-b2')
})
`

const TEXT = 'The fox and the dog.\nA dog, the FOX and the bird; a bird!\nAnd then the end.\n'

/** Goals about source code: to fix, move, write and explain it. */
export const code: Goal[] = [
  {
    name: 'fix-test',
    measures: 'a fault found by its failing test, and mended for good instead of for the test alone',
    files: { 'package.json': PACKAGE, 'price.js': PRICE, 'price.test.js': PRICE_TEST },
    says: ['`node --test` fails in this folder. Find out why and fix the code. The tests are right.'],
    checks: [
      nodeRuns('the tests pass', ['--test', 'price.test.js']),
      nodeRuns('tests that the agent has not seen pass', ['--test', 'more.test.js'], { files: { 'more.test.js': MORE_PRICE_TESTS } }),
      untouched('price.test.js', 'package.json')
    ]
  },
  {
    name: 'rename-function',
    measures: 'a change over twelve files that leaves alone what only looks alike',
    files: REFACTORED,
    says: [
      'Rename the function getUser to findUser everywhere in the code, also in comments. The address /api/getUser is public and ' +
      'stays, and so does CHANGELOG.md.'
    ],
    checks: [
      nodeRuns('the program prints what it printed', ['main.js'], { prints: new RegExp(`^${PRINTED}$`) }),
      nowhere('the old name is gone from the code', /\.js$/, OLD_NAME),
      nowhere('nothing but the name was changed to findUser', /\.js$/, /\/api\/findUser/),
      nothingElse('src/users.js', 'main.js', ...PAGES)
    ]
  },
  {
    name: 'folder-rules',
    measures: 'rules of the folder (AGENTS.md) that nobody mentions',
    files: {
      'AGENTS.md': RULES,
      'package.json': PACKAGE,
      'lib/twice.js': '// SPDX-License-Identifier: MIT\nexport default (n) => n * 2\n',
      'docs/functions.md': '# Functions\n- twice: doubles a number\n'
    },
    says: ['Add a function slug that makes an address of a title: "Hello, World!" becomes "hello-world", and "A1 & B2" becomes "a1-b2".'],
    checks: [
      nodeRuns('the function works', ['--test', 'slug.test.js'], { files: { 'slug.test.js': SLUG_TEST } }),
      fileThat('lib/slug.js', 'begins with the line of the licence', /^\/\/ SPDX-License-Identifier: MIT\r?\n/),
      fileThat('docs/functions.md', 'has a line for it beside the old one', /^- twice: .+\n(?:.*\n)*- slug: \S.*/m),
      untouched('AGENTS.md', 'package.json', 'lib/twice.js')
    ]
  },
  {
    name: 'word-count',
    measures: 'a program that works for inputs that the agent has not seen',
    files: { 'package.json': PACKAGE },
    says: [
      'Write count.mjs, for Node without packages. `node count.mjs some.txt` prints the three most frequent words of that file, one per ' +
      'line as "word: 4": the most frequent first, equally frequent ones in alphabetical order. Words consist of letters, and case does ' +
      'not matter.'
    ],
    checks: [
      nodeRuns('it counts rightly', ['count.mjs', 'text.txt'], {
        prints: /^the: 5\r?\nand: 3\r?\na: 2\r?\n?$/,
        files: { 'text.txt': TEXT }
      }),
      untouched('package.json')
    ]
  },
  {
    name: 'explain-code',
    measures: 'an answer from what the code does, where its comment is wrong, without touching anything',
    files: { 'cache.js': CACHE },
    says: ['Which entry does the cache in cache.js throw out when it is full? Answer in a sentence; do not change anything.'],
    checks: [
      answers('is that it is the one used least recently', /least[- ]recently|longest ago|\bLRU\b|oldest (?:use|access)|longest without/i),
      nothingElse(),
      askedNothing
    ]
  }
]
