import { resolve } from 'node:path'
import type { Config } from '../../schemas/config.ts'
import type { LogFile } from './rotating-file.ts'

const NAME = 'logs/local-agent.log'
const MAX_BYTES = 10 * 1024 * 1024
const KEEP = 5

/** Returns the file that the configuration names; undefined for none. A relative path lies in the configuration directory. */
export function logFile (home: string, { file = false, maxBytes = MAX_BYTES, keep = KEEP }: Config['log'] = {}): LogFile | undefined {
  return file === false ? undefined : { path: resolve(home, file === true ? NAME : file), maxBytes, keep }
}
