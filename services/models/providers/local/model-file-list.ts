import { type Dirent, statSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { readJson } from '../../../lib/json.ts'

/** A file on this computer that holds the weights of a model, in GGUF format. The service can run it without a model server. */
export interface ModelFile {
  /** The model's name: the name of the file without `.gguf`, with dashes in place of characters that the name of a model cannot have. */
  name: string
  path: string
}

/** A file that another program left on this computer. */
interface FoundFile extends ModelFile {
  /** The program, such as `Ollama`. */
  program: string
  sizeBytes: number
}

const ENDING = /\.gguf$/i
/** Matches the second and later parts of a model in several files. The engine finds these parts by the first one. */
const LATER_PART = /-(?!0*1-of-)\d{5}-of-\d{5}\.gguf$/i
/** Matches a projector, which lets a model see pictures, and is no model itself. */
const PROJECTOR = /mmproj/i
/** How many levels of folders are searched below the folder of another program. */
const DEPTH = 5
/** How many levels of folders are searched below the folder of the service, and the most files that are returned for a folder. */
const OWN_DEPTH = 2
const MOST_FILES = 200
/** The most bytes of a manifest of Ollama; a usual manifest has about a thousand. */
const LONGEST_MANIFEST = 1024 * 1024

const isModelFile = (path: string) => ENDING.test(path) && !LATER_PART.test(path) && !PROJECTOR.test(basename(path))

/** Returns a path of config.json with the user's home in place of `~`. */
export const expandHome = (path: string, home = homedir()): string => path.replace(/^~(?=$|[/\\])/, home)

/** Returns the model file at a path. */
const modelFileAt = (path: string, name = basename(path).replace(ENDING, '')): ModelFile =>
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

/** Creates the list of the service's own model files: the files below `folder`, and the files at the paths that `named` returns. */
export function createOwnFiles (folder: string, named: () => string[] | undefined) {
  let files: ModelFile[] = []
  /** The last change of the folder that was noticed, as `mtimeMs`. */
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
    /** Searches for files again. */
    refresh,
    /** Returns the files that the last search found. */
    list: () => files,
    /** True if there are files, or if some might have been added since the last search. */
    hasAny: (): boolean => files.length > 0 || named() !== undefined || changedAt() !== seenAt,
    /** Returns the file of a model, even if the file was added since the last search. */
    async find (name: string): Promise<ModelFile | undefined> {
      if (!files.some((file) => file.name === name)) await refresh()
      return files.find((file) => file.name === name)
    }
  }
}

/**
 * Returns the models that Ollama keeps, from at most MOST_FILES manifests. A manifest for each name and tag lists layers, one of which is
 * the model file; a manifest that is too large, cannot be read or names no model is left out.
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

/** Returns the model files that other programs keep on this computer. */
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
