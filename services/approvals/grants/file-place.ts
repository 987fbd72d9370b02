import { homedir } from 'node:os'
import { basename, extname, relative, resolve } from 'node:path'
import type { FilePlace } from '../../contracts/approval-record.ts'
import { foldCase } from '../../lib/windows-path.ts'
import { within } from '../../tools/index.ts'
import { endingOf, isOpenedPath, isStarted } from '../../lib/obeyed-names.ts'

export const extensionOf = ({ name }: FilePlace): string => extname(name).toLowerCase()
export const pathOf = ({ folder, name }: FilePlace): string => resolve(folder, name)

/** Whether programs or systems obey or execute what is written there, by its name. */
export function isObeyed (place: FilePlace): boolean {
  const path = pathOf(place)
  return isOpenedPath(path) || isStarted(path)
}

/** Whether the place is one that a grant for a folder never covers: what is written there may be executed later, unasked. */
export const isProtected = (place: FilePlace): boolean => isObeyed(place) || endingOf(place.name) === ''

/**
 * Whether a grant for the files of `folder` may cover the place: none that is protected, in no hidden folder below it. A home folder, one
 * that holds homes, and a hidden one are too wide or too much obeyed for such a grant.
 */
export function isCovered (folder: string, place: FilePlace): boolean {
  if (isProtected(place) || !within(place.folder, folder) || isHomeOrAbove(folder) || basename(folder).startsWith('.')) return false
  return !relative(folder, place.folder).split(/[\\/]/).some((part) => part.startsWith('.'))
}

const isHomeOrAbove = (folder: string): boolean =>
  within(foldCase(homedir()), foldCase(folder)) || /^(?:[a-z]:)?[\\/](?:(?:home|users)(?:[\\/][^\\/]+)?|root)?[\\/]?$/i.test(folder)
