import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from '../harness/source-tree.ts'
import { scratch } from './scratch.ts'

// Runs the tests that start programs by their paths in a copy of the project whose path has a blank and a letter beyond ASCII.

const TESTS = [
  'test/process/descriptors.test.ts',
  'test/process/executable.test.ts',
  'test/process/service-log.test.ts'
]

const began = performance.now()
const copy = join(scratch(), 'a folder, lä')
const run = (command: string, args: string[], cwd: string) => execFileSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 27 })

mkdirSync(copy)
for (const path of run('git', ['ls-files', '-z'], ROOT).split('\0').filter(Boolean)) {
  mkdirSync(dirname(join(copy, path)), { recursive: true })
  cpSync(join(ROOT, path), join(copy, path))
}
// Links would lead back to the path of the project.
for (const folder of ['node_modules', 'dist']) run('cp', ['-a', `${ROOT}${folder}`, copy], copy)

const tap = join(copy, 'node_modules/tap/dist/esm/run.mjs')
run(process.execPath, [tap, 'build'], copy)
try {
  run(process.execPath, [tap, '--disable-coverage', '--reporter=tap', ...TESTS], copy)
} catch (error) {
  console.error((error as { stdout: string }).stdout)
  throw error
}
console.log(`other folder: ${TESTS.length} files of tests pass (${((performance.now() - began) / 1_000).toFixed(0)} s)`)
