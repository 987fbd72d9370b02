import picomatch from 'picomatch'

/**
 * Returns a function that tells whether a path relative to the searched folder matches a glob. As in .gitignore and most editors, a glob
 * without `/` is compared with the name alone, at any depth.
 */
export function createGlobFilter (glob: string): (path: string) => boolean {
  const matches = picomatch(glob, { dot: true })
  return glob.replace(/\/$/, '').includes('/') ? matches : (path) => matches(path.slice(path.lastIndexOf('/', path.length - 2) + 1))
}
