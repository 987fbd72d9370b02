import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const MAX_OUTPUT = 16 * 1024 * 1024

/**
 * Runs a test module with `dir` mounted as a separate file system of this many MiB, in a namespace that ends with the module. Returns the
 * JSON that the module prints; undefined if such a file system cannot be mounted. If the module fails, the error holds its stderr.
 */
export function onSmallDisk (dir: string, module: URL, mebibytes = 8): any {
  const inNamespace = (...command: string[]) =>
    execFileSync('unshare', [
      '--map-root-user',
      '--mount',
      'sh',
      '-c',
      `mount -t tmpfs -o size=${mebibytes}m,mode=700 tmpfs "$0" && exec "$@"`,
      dir,
      ...command
    ], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: MAX_OUTPUT })
  try {
    inNamespace('true')
  } catch {
    return undefined
  }
  return JSON.parse(inNamespace(process.execPath, fileURLToPath(module), dir))
}
