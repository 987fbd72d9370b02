import { sep } from 'node:path'

/** Whether a path is the folder or in it. Compares with a trailing separator, because /work-evil is not within /work. */
export function within (path: string, folder: string, separator = sep): boolean {
  return path === folder || path.startsWith(folder.endsWith(separator) ? folder : folder + separator)
}
