import { isCredential } from '../../lib/credentials.ts'
import type { PathPolicy } from '../path-policy.ts'

/**
 * Returns the reason to ask before a call reads a path, because the path or its symbolic link's target holds keys or credentials; undefined
 * if neither does.
 */
export async function askForCredentials (path: string, cwd: string, paths: PathPolicy): Promise<string | undefined> {
  const real = await paths.resolve(path, cwd).catch(() => undefined)
  if (real === undefined || !(isCredential(real) || isCredential(paths.meant(path, cwd)))) return undefined
  return `It would read keys or credentials (${JSON.stringify(real)}), and models and their providers would see them.`
}
