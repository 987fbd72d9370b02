import { dirname, resolve } from 'node:path'
import type { Grant } from '../../contracts/grant-record.ts'
import { foldCase } from '../../lib/windows-path.ts'
import { within } from '../../tools/index.ts'

/** Extensions of documents, which no command executes. */
const DOCUMENTS = /\.(?:md|markdown|txt|rst|adoc|tex|log|pdf|rtf|docx?|odt|xlsx?|ods|csv|tsv|pptx?|odp|ics|png|jpe?g|gif|webp)$/i
const WORDS = /[^\s;|&<>()"'`=,]+/g

const isIn = (folder: string, path: string): boolean => within(foldCase(path), foldCase(folder))

/** Whether a word is an option of a Windows program, such as `/s`; as a path, it would be in the root of the drive. */
const isSwitch = (word: string): boolean => process.platform === 'win32' && /^\/[\w?-]*(?::\S*)?$/.test(word)

/** Returns the texts in a command's input that might name files or folders, as absolute paths. */
function namedBy ({ input, folder }: Pick<Grant, 'input' | 'folder'>): string[] {
  const words = JSON.stringify(input ?? '').match(WORDS) ?? []
  return words.filter((word) => /[./\\]/.test(word) && !isSwitch(word)).map((word) => resolve(folder.path, word))
}

/**
 * Whether the grant of a command is suspended when another command runs without an approval in the box (the sandbox) of `folder`, where it
 * can write anything. True if the granted command works in `folder`, below it or in a parent of it, or names such a path.
 */
export function isSuspendedByBox (grant: Grant, folder: string): boolean {
  return [grant.folder.path, ...namedBy(grant)].some((each) => isIn(each, folder) || isIn(folder, each))
}

/**
 * Returns the first of `paths` that suspends the grant of a command when a call writes the path without an approval; undefined if none
 * does. A path suspends the grant if it is below the folder of the command, or named in the command line, or beside a named path.
 * Documents, and paths written with another learned grant `by` of the same task, count only if the command line names them.
 */
export function suspendedBy (grant: Grant, paths: readonly string[], by: Pick<Grant, 'source' | 'taskId'> | undefined): string | undefined {
  const named = namedBy(grant)
  const isTaughtTogether = by?.source === 'approved_runs' && grant.source === 'approved_runs' && by.taskId === grant.taskId
  return paths.find((path) => {
    if (named.some((each) => foldCase(each) === foldCase(path))) return true
    if (isTaughtTogether || DOCUMENTS.test(path)) return false
    if (isIn(grant.folder.path, path)) return true
    return named.some((each) => isIn(each, path) || (each !== grant.folder.path && isIn(dirname(each), path)))
  })
}
