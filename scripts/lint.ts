// Runs ESLint and, at the same time, oxlint for the rules that need types (.oxlintrc.json), with the native type checker.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)

const bin = (path: string) => {
  const [name, ...rest] = path.split('/')
  return join(dirname(require.resolve(`${name}/package.json`)), ...rest)
}

/** Runs a package's program and shows its output. Resolves to true if it succeeds. */
async function run (program: string, ...args: string[]): Promise<boolean> {
  const [code] = await once(spawn(process.execPath, [bin(program), ...args], { stdio: 'inherit' }), 'close')
  return code === 0
}

const results = await Promise.all([
  run('eslint/bin/eslint.js', '--suppressions-location', 'scripts/lint/exceptions.json', '.'),
  run('oxlint/bin/oxlint', '--type-aware', '--type-check', '--disable-nested-config', '.')
])
if (results.includes(false)) process.exitCode = 1
