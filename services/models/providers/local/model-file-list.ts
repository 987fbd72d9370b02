import type { Dirent } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { readJson } from '../../../lib/json.ts'

/** A file of weights on this computer. */
export interface ModelFile {
  /** The model's name: that of the file without `.gguf`, with dashes for what a name of a model may not hold. */
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
/** What sees pictures for a model, and is none itself. */
const PROJECTOR = /mmproj/i
/** Folders below that of a program which are looked into, and files that are returned. */
const DEPTH = 5
const MOST_FILES = 200
/** Bytes of a manifest of Ollama; usual ones have a thousand. */
const LONGEST_MANIFEST = 1024 * 1024

const isModelFile = (path: string) => ENDING.test(path) && !LATER_PART.test(path) && !PROJECTOR.test(basename(path))

/** Returns the path that a text of config.json names; `~` is the user's home. */
export const expandHome = (path: string, home = homedir()): string => path.replace(/^~(?=$|[/\\])/, home)

/** Returns the model of a file. */
export const modelFileAt = (path: string, name = basename(path).replace(ENDING, '')): ModelFile =>
  ({ name: name.replace(/[^\w.:-]+/g, '-').slice(0, 100), path })

/** Returns the model files below a folder, in order; none where it is not there. */
export async function modelFilesBelow (folder: string, depth = 1): Promise<ModelFile[]> {
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

/**
 * Returns the models that Ollama keeps: a manifest for each name and tag, which names its layers, of which one is the file.
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

/** Where programs keep the files of models. */
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
