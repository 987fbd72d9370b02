import { strictEqual } from 'node:assert/strict'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startService } from './service.ts'
import { DOCUMENT, generatorJar, hasProgram, oapiCodegen, pythonPrograms, run, scratchFolder } from './tools.ts'

// Each generator makes a client of openapi.json as its users would, without options that mend the client. It is compiled or type-checked,
// and a program of calls/ uses it with the built service.

const CALLS = fileURLToPath(new URL('calls/', import.meta.url))
const LEAST_CALLS = 10

/** Runs the program of calls with a service of its own, and looks how many calls it made. */
async function makeCalls (command: string, args: string[], cwd: string): Promise<string> {
  const service = await startService()
  try {
    const output = run(command, args, { cwd, env: { LOCAL_AGENT_URL: service.url } }).trim()
    const [, calls] = /^(\d+) calls$/.exec(output) ?? []
    strictEqual(Number(calls) >= LEAST_CALLS, true, output)
    return output
  } finally {
    await service.stop()
  }
}

/** Returns the programs that are missing, as a sentence; undefined when all are there. */
function lacks (...programs: Array<[string, string]>): string | undefined {
  const missing = programs.filter(([name, version]) => !hasProgram(name, version)).map(([name]) => name)
  return missing.length === 0 ? undefined : `skipped, because ${missing.join(' and ')} cannot be run here`
}

const JAVA: [string, string] = ['java', '-version']
const GO: [string, string] = ['go', 'version']

export async function openapiPythonClient (): Promise<string> {
  const dir = scratchFolder()
  const bin = pythonPrograms('openapi-python-client')
  // It reads no JSON lines, unless it is told that they are bytes.
  const config = 'package_name_override: agent_client\ncontent_type_overrides:\n  application/x-ndjson: application/octet-stream\n'
  writeFileSync(join(dir, 'config.yml'), config)
  const options = ['--path', DOCUMENT, '--meta', 'none', '--output-path', join(dir, 'agent_client'), '--config', join(dir, 'config.yml')]
  const env = { PATH: `${bin}:${process.env.PATH}` }
  run(join(bin, 'openapi-python-client'), ['generate', '--fail-on-warning', ...options], { cwd: dir, env })
  const program = copyCalls('openapi_python_client.py', dir)
  // The generator's own module is the same for every document.
  writeFileSync(join(dir, 'mypy.ini'), '[mypy]\n[mypy-agent_client.client]\nignore_errors = True\n')
  run(join(bin, 'mypy'), ['--python-executable', join(bin, 'python'), 'agent_client', program], { cwd: dir })
  return makeCalls(join(bin, 'python'), [program], dir)
}

export async function openapiGeneratorPython (): Promise<string> {
  const missing = lacks(JAVA)
  if (missing) return missing
  const dir = generate('python')
  const bin = pythonPrograms('openapi-generator')
  const program = copyCalls('openapi_generator.py', dir)
  run(join(bin, 'python'), ['-m', 'compileall', '-q', 'openapi_client'], { cwd: dir })
  run(join(bin, 'mypy'), ['--python-executable', join(bin, 'python'), '--follow-imports=silent', program], { cwd: dir })
  return makeCalls(join(bin, 'python'), [program], dir)
}

export async function openapiGeneratorJava (): Promise<string> {
  const missing = lacks(JAVA, ['javac', '-version'], ['mvn', '-version'])
  if (missing) return missing
  const dir = generate('java')
  const sources = join(dir, 'src/main/java')
  copyFileSync(join(CALLS, 'Calls.java'), join(sources, 'Calls.java'))
  const goals = ['compile', 'dependency:build-classpath', '-Dmdep.outputFile=classpath.txt']
  run('mvn', ['-q', '-B', '-Dmaven.test.skip=true', ...goals], { cwd: dir })
  const path = [join(dir, 'target/classes'), readFileSync(join(dir, 'classpath.txt'), 'utf8').trim()].join(':')
  return makeCalls('java', ['-cp', path, 'Calls'], dir)
}

export async function openapiGeneratorGo (): Promise<string> {
  const missing = lacks(JAVA, GO)
  if (missing) return missing
  const dir = generate('go', '--package-name', 'agent')
  // Empty tests, which import the client by a path of their own.
  rmSync(join(dir, 'test'), { recursive: true })
  return compileGo(dir, 'openapi_generator.go')
}

export async function oapiCodegenGo (): Promise<string> {
  const missing = lacks(GO)
  if (missing) return missing
  const dir = scratchFolder()
  writeFileSync(join(dir, 'agent.go'), run(oapiCodegen(), ['-generate', 'types,client', '-package', 'agent', DOCUMENT]))
  return compileGo(dir, 'oapi_codegen.go')
}

/** Makes a client with openapi-generator, and returns its folder. */
function generate (language: string, ...options: string[]): string {
  const dir = scratchFolder()
  run('java', ['-jar', generatorJar(), 'generate', '-q', '-i', DOCUMENT, '-g', language, '-o', dir, ...options])
  return dir
}

function copyCalls (name: string, dir: string): string {
  copyFileSync(join(CALLS, name), join(dir, name))
  return name
}

/** Compiles a client and its program of calls as one module. */
async function compileGo (dir: string, calls: string): Promise<string> {
  const env = { GOFLAGS: '-mod=mod' }
  writeFileSync(join(dir, 'go.mod'), 'module example.com/generated\n\ngo 1.24\n')
  mkdirSync(join(dir, 'calls'))
  copyFileSync(join(CALLS, calls), join(dir, 'calls/main.go'))
  run('go', ['mod', 'tidy'], { cwd: dir, env })
  run('go', ['vet', '.'], { cwd: dir, env })
  run('go', ['build', '-o', 'program', './calls'], { cwd: dir, env })
  return makeCalls(join(dir, 'program'), [], dir)
}
