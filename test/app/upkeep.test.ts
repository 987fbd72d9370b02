import t from 'tap'
import { readdirSync, readFileSync } from 'node:fs'
import { byFolder, floorsFor, folderOf, shortfalls, type Counts } from '../../scripts/coverage/folders.ts'
import isMeasured from '../../scripts/coverage/map.ts'
import { noticesOf, packageFolders, readPackage } from '../../scripts/notices.ts'
import { ROOT, projectFiles, textOf } from '../harness/source-tree.ts'

const counts = (covered: number, total: number): Counts => ({ lines: { total, covered }, branches: { total: 10, covered: 8 } })
const folders = byFolder(new Map<string, Counts>([
  ['services/agent/loop.ts', counts(90, 100)],
  ['services/agent/deep/part.ts', counts(0, 20)],
  ['services/agent/whole.ts', counts(80, 80)],
  ['routes/agent.ts', counts(9, 9)],
  ['workers/task.ts', counts(0, 9)],
  ['app.ts', counts(0, 9)]
]))

t.test('a file counts for its service or its folder', async (t) => {
  t.equal(folderOf('services/store/recovery/repair.ts'), 'services/store')
  t.equal(folderOf('plugins/core/errors.ts'), 'plugins')
  t.same([...folders.keys()], ['routes', 'services/agent'])
  t.same(folders.get('services/agent')!.figures, { lines: 85, branches: 80 })
})

t.test('a figure below its floor gives a sentence with folder, figure, floor and the files to test', async (t) => {
  const floors = { routes: { lines: 100, branches: 80 }, 'services/agent': { lines: 86, branches: 80 } }
  t.same(shortfalls(folders, floors), [
    'services/agent: the tests cover 85 % of its lines, less than its floor of 86 %. ' +
    'Most lines are uncovered in services/agent/deep/part.ts, services/agent/loop.ts.'
  ])
  t.match(shortfalls(folders, { routes: floors.routes }), [/^services\/agent has no floor/])
  t.same(shortfalls(folders, floorsFor(folders, 2)), [])
  t.same(floorsFor(folders, 2).routes, { lines: 98, branches: 78 })
})

t.test('tests of the built service are not measured', async (t) => {
  t.equal(isMeasured('test/faults/end.test.ts'), null)
  t.same(isMeasured('test/routes/run.test.ts'), [])
})

// The build writes which files it bundled, as esbuild's metafile says.
const inputs: string[] = JSON.parse(readFileSync(`${ROOT}dist/bundled.json`, 'utf8'))
const { dependencies, optionalDependencies, files } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))

t.test('every bundled package stands in the notices, with its version and the text of its licence', async (t) => {
  const notices = readFileSync(`${ROOT}dist/THIRD-PARTY-NOTICES`, 'utf8')
  const folders = packageFolders(inputs)
  t.ok(folders.length > 100, 'the server, the workers and the page')
  for (const name of ['fastify', 'ai', 'linkedom', 'unpdf', '@fastify/swagger-ui', 'classic-level']) {
    t.ok(folders.some((folder) => readPackage(folder).name === name), name)
  }
  for (const folder of folders) {
    const { name, version } = readPackage(folder)
    const section = notices.split('-'.repeat(80)).find((text) => text.includes(`\n${name} ${version} (`)) ?? ''
    t.match(section, /^\s*\S+ \S+ \([A-Z][^)]+\)[^]+(permission|licen[cs]e|redistribution)/i, `${name} ${version}`)
    const license = readdirSync(`${ROOT}${folder}`).find((name) => /^licen[cs]e/i.test(name) && !/\.[cm]?js$/.test(name))
    const holder = license && /^\s*(Copyright .+)$/m.exec(readFileSync(`${ROOT}${folder}/${license}`, 'utf8'))?.[1].trim()
    if (holder) t.ok(section.includes(holder), `${name}: ${holder}`)
  }
  t.match(notices, /Swagger UI 5[^]+SmartBear/)
  t.match(notices, /PDF\.js/)
})

t.test('a package without a licence cannot be bundled', async (t) => {
  const dir = t.testdir({ node_modules: { bare: { 'package.json': '{ "name": "bare", "version": "1.0.0" }', 'index.js': '' } } })
  const path = `${dir.slice(ROOT.length)}/node_modules/bare/index.js`
  t.throws(() => noticesOf([path], []), { message: /^bare is bundled but states no licence/ })
})

t.test('the package depends on nothing but native packages, and holds what was built and its licences', async (t) => {
  t.same(Object.keys(dependencies), ['classic-level'])
  t.same(Object.keys(optionalDependencies), ['robotjs'])
  for (const name of ['dist', 'LICENSE', 'README.md', '!dist/bundled.json', '!dist/sidecar']) t.ok(files.includes(name), name)
})

const KEYS = 'services/store/keys.ts'
const prefixes = [...textOf(KEYS).matchAll(/['`]([a-z-]+)\/|historyKey\('([a-z-]+)'/g)].map(([, prefix, history]) => prefix ?? history)

/** What a text does that only `services/store/keys.ts` may do: text that begins with the prefix of a key, and key builders. */
function ownKeys (text: string): string[] {
  const code = text.replaceAll(/\/\*.*?\*\/|\/\/.*/gs, (comment) => comment.startsWith('//') ? '' : ' ')
  const found = code.matchAll(new RegExp(`['"\`](?:${prefixes.join('|')})/|\\bhistoryKey\\(|\\.record(?:<.*>)?\\('`, 'g'))
  return [...found].map(([each]) => each)
}

t.test('only one file builds keys of the store', async (t) => {
  const known = ['run', 'thread-run', 'approval', 'thread', 'message', 'turn', 'metadata', 'task', 'task-run', 'run-event', 'task-past']
  t.ok([...known, 'idempotency'].every((prefix) => prefixes.includes(prefix)))
  const files = projectFiles().filter((path) => /^(?:app|(?:services|plugins|routes|workers)\/.*)\.ts$/.test(path) && path !== KEYS)
  t.same(files.flatMap((path) => ownKeys(textOf(path)).map((key) => `${path}: ${key}`)), [])

  const wrong = "/* 'run/' */ get(`run/` + id); list('task-run/'); historyKey('turn', id, 1); store.record<{ a: 1 }>('brain', empty)"
  t.equal(ownKeys(wrong).length, 4, 'wrong ones would be found')
})

t.test('the file of the keys says what the records with each prefix hold', async (t) => {
  const text = textOf(KEYS)
  const isDescribed = (prefix: string) => text.split('\n\n').some((part) =>
    /(?:\*\/|\/\/ .+)\n(?:(?:export |const | ).*\n)*$/.test(part.split(new RegExp(`['\`]${prefix}(?:/|')`))[0].replace(/.*$/, '')))
  t.same(prefixes.filter((prefix) => !isDescribed(prefix)), [])
})
