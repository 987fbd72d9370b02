// Checks that a complete test run has covered each folder as far as scripts/coverage/floors.json demands; `npm run test:coverage` ends with
// this check. `--table` prints the figures of the last run, also of a partial one. `--set` writes new floors from them.
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { byFolder, floorsFor, folderOf, shortfalls, type Counts, type Figures } from './coverage/folders.ts'
import isMeasured from './coverage/map.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FLOORS = join(ROOT, 'scripts/coverage/floors.json')
const SUMMARY = join(ROOT, '.tap/report/coverage-summary.json')
const PROCESSES = join(ROOT, '.tap/processinfo')
/** The distance of new floors below the figures, in percentage points. */
const MARGIN = 2
/** Matches code. A file without a match contains only types, which no test can execute. */
const HAS_CODE = /^(?:export )?(?:default|const|let|function|async|class|abstract)\b/m

const slashed = (path: string) => path.split(sep).join('/')

/** Returns the counts of all source files. A file that no test has loaded counts as uncovered. */
function countedFiles (): Map<string, Counts> {
  const summary: Record<string, Counts> = existsSync(SUMMARY) ? JSON.parse(readFileSync(SUMMARY, 'utf8')) : {}
  const measured = new Map(Object.entries(summary).map(([path, counts]) => [slashed(relative(ROOT, path)), counts]))
  const files = globSync('{services,routes,plugins,schemas}/**/*.ts', { cwd: ROOT }).map(slashed).filter((path) => folderOf(path))
  return new Map(files.flatMap((path): Array<[string, Counts]> => {
    const counts = measured.get(path)
    if (counts !== undefined) return [[path, counts]]
    const text = readFileSync(join(ROOT, path), 'utf8')
    const none = { total: text.split('\n').length - 1, covered: 0 }
    return HAS_CODE.test(text) ? [[path, { lines: none, branches: { total: 1, covered: 0 } }]] : []
  }))
}

/** Returns the measured tests that were not part of tap's last run. tap names the test in the record of each process. */
function missingTests (): string[] {
  const ran = new Set(
    (existsSync(PROCESSES) ? readdirSync(PROCESSES) : []).map((name) =>
      /"externalID": "([^"]+)"/.exec(readFileSync(join(PROCESSES, name), 'utf8'))?.[1])
  )
  return globSync('test/**/*.test.ts', { cwd: ROOT }).map(slashed).filter((path) => isMeasured(path) !== null && !ran.has(path))
}

const folders = byFolder(countedFiles())
const missing = missingTests()
const floors: Record<string, Figures> = JSON.parse(readFileSync(FLOORS, 'utf8'))

if (process.argv.includes('--table')) {
  console.table(Object.fromEntries([...folders].map(([folder, { figures }]) =>
    [folder, { ...figures, 'floor of lines': floors[folder]?.lines, 'floor of branches': floors[folder]?.branches }])))
}
if (missing.length > 0) {
  console.log(`Coverage was not checked: the last run left out ${missing.length} tests, such as ${missing[0]}.`)
} else if (process.argv.includes('--set')) {
  writeFileSync(FLOORS, `${JSON.stringify(floorsFor(folders, MARGIN), null, 2)}\n`)
} else {
  for (const sentence of shortfalls(folders, floors)) {
    console.error(sentence)
    process.exitCode = 1
  }
}
