import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { openPack, readPacked } from '../lib/pack.ts'
import type { StaticFile } from './static-file.ts'

const unzip = promisify(gunzip)

/**
 * Reads a file that the pack holds compressed, for a client that takes gzip or not. Returns undefined when the pack has no such file, or
 * the service runs from its sources.
 */
export async function packedFile (name: string, takesGzip: boolean): Promise<StaticFile | undefined> {
  const pack = openPack()
  if (pack === undefined || !Object.hasOwn(pack.index, name)) return undefined
  const zipped = readPacked(name)!
  const vary = 'Origin, accept-encoding'
  return takesGzip
    ? { body: zipped, headers: { vary, 'content-encoding': 'gzip' } }
    : { body: await unzip(zipped), headers: { vary } }
}
