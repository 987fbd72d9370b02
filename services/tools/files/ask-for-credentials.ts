import { isCredential } from '../../lib/credentials.ts'
import type { PathPolicy } from '../path-policy.ts'

/** Returns why a call that reads a path asks its user: keys and credentials lie there, by the path that is named or that it leads to. */
export async function askForCredentials (path: string, cwd: string, paths: PathPolicy): Promise<string | undefined> {
  const real = await paths.resolve(path, cwd).catch(() => undefined)
  if (real === undefined || !(isCredential(real) || isCredential(paths.meant(path, cwd)))) return undefined
  return `It would read keys or credentials (${JSON.stringify(real)}), and models and their providers would see them.`
}
