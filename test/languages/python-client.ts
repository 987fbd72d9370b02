import { ok, strictEqual } from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../harness/source-tree.ts'
import { isShown } from '../harness/your-app.ts'
import { startService, writeProgram } from './service.ts'
import { makeEnvironment, pythonPrograms, run, scratchFolder } from './tools.ts'

// Builds the wheel of clients/python, installs it in an empty environment, and does there what its README says.

const CLIENT = join(ROOT, 'clients/python')
/** A first program that does not fit on a screen is no first program. */
const LONGEST_FIRST = 20

/** What the model answers to the program that wants a structured answer. */
const SCRIPTED = {
  model: 'offline/scripted',
  offline: { script: [{ toolCalls: [{ toolName: 'answer', input: { city: 'Lima', degrees: 19.5 } }] }] }
}

interface Program { name: string, text: string, shown: string }

/** The programs of the README, each with the output that it shows. */
function programs (): Program[] {
  const page = readFileSync(join(CLIENT, 'README.md'), 'utf8')
  const blocks = /^```python\n# (\w+\.py)\n([\s\S]*?)^```\n\n(`{3,})text\n([\s\S]*?)^\3$/gm
  return [...page.matchAll(blocks)].map(([, name, text,, shown]) => ({ name, text, shown }))
}

/** Builds the wheel outside of the project, and returns the folder of the programs of an environment that has it alone. */
export function installedClient (): string {
  const dir = scratchFolder()
  cpSync(CLIENT, join(dir, 'source'), { recursive: true, filter: (path) => !/__pycache__|\.mypy_cache/.test(path) })
  const build = pythonPrograms('build')
  run(join(build, 'python'), ['-m', 'build', '--wheel', '--no-isolation', '--outdir', dir, join(dir, 'source')])
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const wheel = join(dir, `local_agent_client-${version}-py3-none-any.whl`)
  ok(existsSync(wheel), 'the wheel has the version of the service')
  makeEnvironment(join(dir, 'venv'))
  run(join(dir, 'venv/bin/pip'), ['install', '--quiet', '--disable-pip-version-check', wheel])
  return join(dir, 'venv/bin')
}

export async function pythonClient (): Promise<string> {
  const bin = installedClient()
  const dir = scratchFolder()
  const all = programs()
  strictEqual(all.length, 7, 'the README has seven programs')
  ok(all[0].text.trim().split('\n').length <= LONGEST_FIRST, 'the first one is short')
  for (const { name, text } of all) writeFileSync(join(dir, name), text)
  cpSync(join(CLIENT, 'examples/app.py'), join(dir, 'app.py'))
  cpSync(new URL('client_test.py', import.meta.url), join(dir, 'client_test.py'))
  const mypy = join(pythonPrograms('client'), 'mypy')
  run(mypy, ['--strict', '--python-executable', join(bin, 'python'), dir])
  run(mypy, ['--strict', '--python-executable', join(bin, 'python'), '-p', 'local_agent'], { cwd: dir })

  const examples = readFileSync(join(ROOT, 'openapi.json'), 'utf8')
  writeFileSync(join(dir, 'openapi.json'), examples)
  await runPrograms(all, dir, bin)
  run(join(bin, 'python'), ['client_test.py'], { cwd: dir, env: programEnvironment(dir) })
  return `${all.length} programs, the app and the tests`
}

/** The environment of a program that finds no service but starts one. */
function programEnvironment (dir: string): Record<string, string> {
  const [home, programsDir] = [join(dir, 'home'), join(dir, 'bin')]
  mkdirSync(home, { recursive: true })
  writeProgram(programsDir)
  return { LOCAL_AGENT_HOME: home, LOCAL_AGENT_URL: '', PATH: `${programsDir}:${process.env.PATH}` }
}

async function runPrograms (all: readonly Program[], dir: string, bin: string): Promise<void> {
  const service = await startService()
  const scripted = await startService(SCRIPTED)
  try {
    for (const { name, shown } of all) {
      const { home, cwd } = name === 'weather.py' ? scripted : service
      const env = name === 'started.py' ? programEnvironment(dir) : { LOCAL_AGENT_HOME: home, LOCAL_AGENT_URL: '' }
      const output = run(join(bin, 'python'), [join(dir, name)], { cwd, env })
      ok(isShown(output, shown), `${name} put out:\n${output}`)
    }
  } finally {
    await service.stop()
    await scripted.stop()
  }
  const output = run(join(bin, 'python'), ['app.py', join(dir, 'work')], { cwd: dir, env: programEnvironment(dir) })
  for (const line of ['This folder is empty.', 'Sent twice, one run: True', 'hello is back', '{"id":"A-2","state":"closed"}']) {
    ok(output.includes(line), `app.py put out no "${line}":\n${output}`)
  }
}
