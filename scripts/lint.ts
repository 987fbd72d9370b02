// Runs ESLint and the type checker side by side, which halves their time on two cores. `npm run lint` is this.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)

const bin = (path: string) => {
  const [name, ...rest] = path.split('/')
  return join(dirname(require.resolve(`${name}/package.json`)), ...rest)
}

/** Runs a program of a package, with its output. Resolves to true when it succeeds. */
async function run (program: string, ...args: string[]): Promise<boolean> {
  const [code] = await once(spawn(process.execPath, [bin(program), ...args], { stdio: 'inherit' }), 'close')
  return code === 0
}

async function checkTypes (): Promise<boolean> {
  return await run('typescript/bin/tsc') && await run('typescript/bin/tsc', '-p', 'examples') && run('typescript/bin/tsc', '-p', 'console')
}

const results = await Promise.all([run('eslint/bin/eslint.js', '.'), checkTypes()])
if (results.includes(false)) process.exitCode = 1
