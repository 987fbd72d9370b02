import { type Dirent, statSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { readJson } from '../../../lib/json.ts'

/** A file of weights on this computer. */
export interface ModelFile {
  /** The model's name: that of the file without `.gguf`. Characters that a model's name may not have are dashes. */
  name: string
  path: string
}

/** A file that another program left on this computer. */
export interface FoundFile extends ModelFile {
  /** The program, such as `Ollama`. */
  program: string
  sizeBytes: number
}

const ENDING = /\.gguf$/i
/** The second and later parts of a model in several files; the engine finds them by the first. */
const LATER_PART = /-(?!0*1-of-)\d{5}-of-\d{5}\.gguf$/i
/** A projector lets a model see pictures, and is no model itself. */
const PROJECTOR = /mmproj/i
/** How many levels of folders are searched below that of a program, and the most files that are returned. */
const DEPTH = 5
/** How many levels of folders are searched below that of the service. */
const OWN_DEPTH = 2
const MOST_FILES = 200
/** The most bytes of a manifest of Ollama; usual ones have a thousand. */
const LONGEST_MANIFEST = 1024 * 1024

const isModelFile = (path: string) => ENDING.test(path) && !LATER_PART.test(path) && !PROJECTOR.test(basename(path))

/** Returns the path that a text of config.json means; `~` is the user's home. */
export const expandHome = (path: string, home = homedir()): string => path.replace(/^~(?=$|[/\\])/, home)

/** Returns the model of a file. */
export const modelFileAt = (path: string, name = basename(path).replace(ENDING, '')): ModelFile =>
  ({ name: name.replace(/[^\w.:-]+/g, '-').slice(0, 100), path })

/** Returns the model files below a folder, in order; none if the folder does not exist. */
async function modelFilesBelow (folder: string, depth = 1): Promise<ModelFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => [])
  const found: ModelFile[] = []
  for (const entry of entries.toSorted((a, b) => a.name < b.name ? -1 : 1)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && depth > 1) found.push(...await modelFilesBelow(path, depth - 1))
    else if (!entry.isDirectory() && isModelFile(path)) found.push(modelFileAt(path))
    if (found.length >= MOST_FILES) break
  }
  return found.slice(0, MOST_FILES)
}

/** Creates the list of the files that are models of the service: those below `folder`, and those with the paths that are `named`. */
export function createOwnFiles (folder: string, named: () => string[] | undefined) {
  let files: ModelFile[] = []
  /** The last change of the folder that was noticed. */
  let seenAt: number | undefined
  const changedAt = () => statSync(folder, { throwIfNoEntry: false })?.mtimeMs

  async function refresh (): Promise<void> {
    const at = changedAt()
    const own = await modelFilesBelow(folder, OWN_DEPTH)
    const others = (named() ?? []).map((path) => modelFileAt(expandHome(path)))
    files = [...new Map([...own, ...others].map((file) => [file.name, file])).values()]
    seenAt = at
  }

  return {
    /** Looks for files. */
    refresh,
    /** Returns the files that were seen last. */
    list: () => files,
    /** True if there are files, or if some may have been added since the last look. */
    hasAny: (): boolean => files.length > 0 || named() !== undefined || changedAt() !== seenAt,
    /** Returns the file of a model, even if it was added since the last look. */
    async find (name: string): Promise<ModelFile | undefined> {
      if (!files.some((file) => file.name === name)) await refresh()
      return files.find((file) => file.name === name)
    }
  }
}

/**
 * Returns the models that Ollama keeps. A manifest for each name and tag lists layers, one of which is the model file.
 * https://github.com/ollama/ollama/blob/main/docs/import.md
 */
async function filesOfOllama (folder: string): Promise<ModelFile[]> {
  const manifests = join(folder, 'manifests')
  const paths = await readdir(manifests, { recursive: true, withFileTypes: true }).catch((): Dirent[] => [])
  const found = await Promise.all(paths.filter((entry) => entry.isFile()).slice(0, MOST_FILES).map(async (entry) => {
    const path = join(entry.parentPath, entry.name)
    const size = await stat(path).then((stats) => stats.size, () => Infinity)
    const layers = size > LONGEST_MANIFEST ? undefined : readJson(await readFile(path, 'utf8').catch(() => ''))?.layers
    const layer = Array.isArray(layers) ? layers.find((each) => each?.mediaType === 'application/vnd.ollama.image.model') : undefined
    if (typeof layer?.digest !== 'string') return []
    return [modelFileAt(join(folder, 'blobs', layer.digest.replace(':', '-')), `${basename(entry.parentPath)}-${entry.name}`)]
  }))
  return found.flat()
}

/** Folders in which programs keep model files. */
export async function filesOfPrograms (environment: NodeJS.ProcessEnv, home = homedir()): Promise<FoundFile[]> {
  const caches = environment.XDG_CACHE_HOME || (process.platform === 'darwin' ? join(home, 'Library/Caches') : join(home, '.cache'))
  const hub = environment.HF_HUB_CACHE || join(environment.HF_HOME || join(home, '.cache', 'huggingface'), 'hub')
  const places: Array<[program: string, files: Promise<ModelFile[]>]> = [
    ['LM Studio', modelFilesBelow(join(home, '.lmstudio', 'models'), DEPTH)],
    ['LM Studio', modelFilesBelow(join(home, '.cache', 'lm-studio', 'models'), DEPTH)],
    ['Ollama', filesOfOllama(environment.OLLAMA_MODELS || join(home, '.ollama', 'models'))],
    ['llama.cpp', modelFilesBelow(environment.LLAMA_CACHE || join(caches, 'llama.cpp'), 1)],
    ['Hugging Face', modelFilesBelow(hub, DEPTH)]
  ]
  const found = await Promise.all(places.map(async ([program, files]) =>
    Promise.all((await files).map(async (file) => {
      const size = await stat(file.path).then((stats) => stats.size, () => 0)
      return size === 0 ? [] : [{ ...file, program, sizeBytes: size }]
    }))))
  return found.flat(2)
}
