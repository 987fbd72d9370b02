import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../harness/source-tree.ts'

// What the checks of clients in other languages need. It is installed into a folder outside of the project, once for each list.

export const CACHE = process.env.LOCAL_AGENT_CLIENTS || join(homedir(), '.cache/local-agent-clients')

/** Packages of Python by environment, with exact versions. */
const PACKAGES = {
  build: ['build==1.6.1', 'hatchling==1.28.0'],
  client: ['mypy==2.4.1'],
  acp: ['agent-client-protocol==0.12.1'],
  'openapi-python-client': ['openapi-python-client==0.29.1', 'ruff==0.17.6', 'mypy==2.4.1', 'types-python-dateutil==2.9.0.20261116'],
  'openapi-generator': ['openapi-generator-cli==7.26.0', 'mypy==2.4.1', 'python-dateutil==4.0.0', 'urllib3==2.8.0', 'pydantic==2.14.4'],
  openai: [
    'openai==3.3.0', 'langchain-openai==1.7.4', 'pydantic-ai-slim[openai]==2.38.0', 'openai-agents==0.24.0', 'litellm==1.110.2',
    'instructor==1.17.0'
  ],
  schemathesis: ['schemathesis==4.32.5']
}
/** The clients of OpenAI's API for Node. */
const NODE_PACKAGES = ['openai@7.57.0', '@langchain/openai@1.5.8', '@langchain/core@1.4.0', 'zod@4.6.7']
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'

export type Environment = keyof typeof PACKAGES

/** Runs a program to its end and returns its output. Throws with all that it put out when it fails. */
export function run (command: string, args: string[], { cwd, env }: { cwd?: string, env?: Record<string, string> } = {}): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 64e6,
    timeout: 20 * 60_000
  })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${`${stdout}${stderr}`.slice(-6_000)}`)
  return stdout
}

/** Whether a program is on PATH. */
export function hasProgram (name: string, ...args: string[]): boolean {
  try {
    execFileSync(name, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Returns the folder of the programs of an environment of Python, which is installed when its list has changed. */
export function pythonPrograms (name: Environment): string {
  const dir = join(CACHE, name)
  const list = PACKAGES[name].join('\n')
  const mark = join(dir, 'packages.txt')
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== list) {
    rmSync(dir, { recursive: true, force: true })
    makeEnvironment(dir)
    run(join(dir, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', ...PACKAGES[name]])
    writeFileSync(mark, list)
  }
  return join(dir, 'bin')
}

/** Installs packages of npm into a folder, when their list has changed. */
export function installNode (dir: string, packages: readonly string[]): void {
  mkdirSync(dir, { recursive: true })
  const list = join(dir, 'npm.txt')
  if (existsSync(list) && readFileSync(list, 'utf8') === packages.join('\n')) return
  writeFileSync(join(dir, 'package.json'), '{"private":true}')
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', '--save-exact', ...packages], { cwd: dir })
  writeFileSync(list, packages.join('\n'))
}

/** Returns the folder of the clients of Node. */
export function nodeClients (): string {
  const dir = join(CACHE, 'node')
  installNode(dir, NODE_PACKAGES)
  return dir
}

/** Makes an environment of Python that has pip alone. */
export function makeEnvironment (dir: string): void {
  run('python3', ['-m', 'venv', dir])
}

/** Returns the jar of openapi-generator, which its package of Python holds. */
export function generatorJar (): string {
  const bin = pythonPrograms('openapi-generator')
  const print = 'import openapi_generator_cli as cli, os; print(os.path.join(os.path.dirname(cli.__file__), "openapi-generator.jar"))'
  return run(join(bin, 'python'), ['-c', print]).trim()
}

/** Returns the program oapi-codegen. */
export function oapiCodegen (): string {
  const bin = join(CACHE, OAPI_CODEGEN.replace(/^.*@/, 'oapi-codegen-'))
  const program = join(bin, 'oapi-codegen')
  if (!existsSync(program)) {
    mkdirSync(bin, { recursive: true })
    run('go', ['install', OAPI_CODEGEN], { env: { GOBIN: bin } })
  }
  return program
}

const scratch: string[] = []
process.once('exit', () => {
  for (const dir of scratch) rmSync(dir, { recursive: true, force: true })
})

/** Makes a folder that is removed at the exit. */
export function scratchFolder (): string {
  const dir = mkdtempSync(join(tmpdir(), 'languages-'))
  scratch.push(dir)
  return dir
}

export const DOCUMENT = join(ROOT, 'openapi.json')
