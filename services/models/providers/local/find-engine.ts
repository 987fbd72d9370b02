import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { expandHome } from './model-file-list.ts'

const PROGRAM = process.platform === 'win32' ? 'llama-server.exe' : 'llama-server'

/** How to install llama.cpp on each system. https://github.com/ggml-org/llama.cpp/blob/master/docs/install.md */
const HOW_TO: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'Install it with "brew install llama.cpp"',
  win32: 'Install it with "winget install llama.cpp"',
  linux: 'Install it with "brew install llama.cpp"'
}

interface EnginePlaces {
  /** `engine` of config.json. */
  configured?: string
  /** The service's home. */
  home: string
  environment: NodeJS.ProcessEnv
}

function isProgram (path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Returns the paths of llama-server below a folder into which a release of llama.cpp was unpacked; none if the folder cannot be read. */
function programsBelow (folder: string): string[] {
  try {
    const paths = readdirSync(folder, { recursive: true }).map(String)
    return paths.filter((path) => basename(path) === PROGRAM).map((path) => join(folder, path))
  } catch {
    return []
  }
}

/** Returns the path of llama.cpp's server. Throws an Error whose message says why there is none. */
export function findEngine ({ configured, home, environment }: EnginePlaces): string {
  if (configured !== undefined) {
    const path = expandHome(configured)
    if (isProgram(path)) return path
    const inFolder = join(path, PROGRAM)
    if (isProgram(inFolder)) return inFolder
    throw new Error(`"engine" of config.json names ${JSON.stringify(configured)}, which is not a program.`)
  }
  const own = programsBelow(join(home, 'engine'))
  const onPath = (environment.PATH ?? environment.Path ?? '').split(delimiter).filter(Boolean).map((folder) => join(folder, PROGRAM))
  const found = [...own, ...onPath].find(isProgram)
  if (found !== undefined) return found
  const howTo = HOW_TO[process.platform] ?? 'Install llama.cpp'
  throw new Error(
    `model files need llama.cpp's server, llama-server, which is not on this computer. ${howTo}, ` +
      `or unpack a release of llama.cpp into ${join(home, 'engine')}.`
  )
}
