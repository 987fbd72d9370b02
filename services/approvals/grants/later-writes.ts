import { dirname, resolve } from 'node:path'
import type { Grant } from '../../contracts/grant-record.ts'
import { foldCase } from '../../lib/windows-path.ts'
import { within } from '../../tools/index.ts'

/** Endings of documents, which no command executes. */
const DOCUMENTS = /\.(?:md|markdown|txt|rst|adoc|tex|log|pdf|rtf|docx?|odt|xlsx?|ods|csv|tsv|pptx?|odp|ics|png|jpe?g|gif|webp)$/i
const WORDS = /[^\s;|&<>()"'`=,]+/g

const isIn = (folder: string, path: string): boolean => within(foldCase(path), foldCase(folder))

/** Whether a word is an option of a program of Windows, such as `/s`: as a path it would be in the root of the drive. */
const isSwitch = (word: string): boolean => process.platform === 'win32' && /^\/[\w?-]*(?::\S*)?$/.test(word)

/** Returns the texts of a command's input that may name files or folders, as absolute paths. */
function namedBy ({ input, folder }: Pick<Grant, 'input' | 'folder'>): string[] {
  const words = JSON.stringify(input ?? '').match(WORDS) ?? []
  return words.filter((word) => /[./\\]/.test(word) && !isSwitch(word)).map((word) => resolve(folder.path, word))
}

/**
 * Whether a grant of a command no longer holds by itself, when a command in the box of this folder runs unasked, which may write anything
 * there: for a command that works in the folder, around it, or that names something there.
 */
export function isSuspendedByBox (grant: Grant, folder: string): boolean {
  return [grant.folder.path, ...namedBy(grant)].some((each) => isIn(each, folder) || isIn(folder, each))
}

/**
 * Returns the path for which a grant of a command no longer holds by itself, when a call writes these paths unasked: one below the folder
 * of the command, or one that its line names, or beside that. Documents count only where the line names them, and so does what approved
 * runs have taught beside the command.
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
