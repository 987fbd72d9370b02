import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * Runs a module of the tests with `dir` as a file system of its own of so many MiB, in a namespace that ends with it; returns
 * the JSON it prints. Undefined where such a file system cannot be mounted.
 */
export function onSmallDisk (dir: string, module: URL, mebibytes = 8): any {
  const inNamespace = (errors: 'ignore' | 'inherit', ...command: string[]) =>
    execFileSync('unshare', [
      '--map-root-user',
      '--mount',
      'sh',
      '-c',
      `mount -t tmpfs -o size=${mebibytes}m,mode=700 tmpfs "$0" && exec "$@"`,
      dir,
      ...command
    ], { encoding: 'utf8', stdio: ['ignore', 'pipe', errors] })
  try {
    inNamespace('ignore', 'true')
  } catch {
    return undefined
  }
  return JSON.parse(inNamespace('inherit', process.execPath, fileURLToPath(module), dir))
}
