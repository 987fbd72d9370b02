import { homedir } from 'node:os'
import { basename, extname, relative, resolve } from 'node:path'
import type { FilePlace } from '../../contracts/approval-record.ts'
import { foldCase } from '../../lib/windows-path.ts'
import { within } from '../../tools/index.ts'
import { endingOf, isOpenedPath, isStarted } from '../../lib/obeyed-names.ts'

export const extensionOf = ({ name }: FilePlace): string => extname(name).toLowerCase()
export const pathOf = ({ folder, name }: FilePlace): string => resolve(folder, name)

/** Whether programs or the system execute a file, or act on it by themselves, at this path, such as a git hook or editor settings. */
export function isObeyed (place: FilePlace): boolean {
  const path = pathOf(place)
  return isOpenedPath(path) || isStarted(path)
}

/**
 * Whether a grant for a folder never covers the place (a folder and a file name in it), because a file there might later be executed
 * without an approval.
 */
export const isProtected = (place: FilePlace): boolean => isObeyed(place) || endingOf(place.name) === ''

/**
 * Whether a grant for the files of `folder` can cover the place. False if the place is protected, or in a hidden folder below `folder`.
 * Also false if `folder` is a hidden folder, a home folder or a parent of home folders: it is too wide, or contains too many files that
 * programs obey.
 */
export function isCovered (folder: string, place: FilePlace): boolean {
  if (isProtected(place) || !within(place.folder, folder) || isHomeOrAbove(folder) || basename(folder).startsWith('.')) return false
  return !relative(folder, place.folder).split(/[\\/]/).some((part) => part.startsWith('.'))
}

const isHomeOrAbove = (folder: string): boolean =>
  within(foldCase(homedir()), foldCase(folder)) || /^(?:[a-z]:)?[\\/](?:(?:home|users)(?:[\\/][^\\/]+)?|root)?[\\/]?$/i.test(folder)
