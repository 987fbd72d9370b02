import { extname } from 'node:path'
import { openPack } from '../../lib/pack.ts'
import { defineError } from '../../lib/service-error.ts'
import { staticFile, staticPage, TYPES, type FileType, type StaticFile, packedFile } from '../static-file.ts'

const NotBuilt = defineError('ERR_NOT_FOUND', 'The page is part of the built service: run "npm run build" and start dist/server.js.')
const NoSuchFile = defineError('ERR_NOT_FOUND', 'The page has no file "%s". Its start page is %s.')

/** The start path of each page in the pack: `console`, and `device`, the page of paired devices at its own port. */
const BEGINS_AT = { console: '/console', device: '/' }

/** The cache-control of assets. Their names contain a digest of their content, so they never change. */
const FOREVER = 'public, max-age=31536000, immutable'

export type PageFiles = ReturnType<typeof createPageFiles>

/** Creates the service for the files of a page, which the pack holds compressed. Each request reads the file again. */
export function createPageFiles (folder: keyof typeof BEGINS_AT) {
  async function read (name: string, takesGzip: boolean): Promise<StaticFile | undefined> {
    if (openPack() === undefined) throw new NotBuilt()
    return packedFile(`${folder}/${name}`, takesGzip)
  }

  return {
    /** Returns the HTML page, which is the same for all paths. Throws ERR_NOT_FOUND (404) if the service runs from its sources. */
    async page (takesGzip: boolean): Promise<StaticFile> {
      const { body, headers } = (await read('index.html', takesGzip))!
      const page = staticPage(body)
      return { ...page, headers: { ...page.headers, ...headers } }
    },

    /** Returns an asset of the page. Throws ERR_NOT_FOUND (404). */
    async asset (name: string, takesGzip: boolean): Promise<StaticFile> {
      const type = extname(name).slice(1)
      const content = Object.hasOwn(TYPES, type) ? await read(`assets/${name}`, takesGzip) : undefined
      if (content === undefined) throw new NoSuchFile(name, BEGINS_AT[folder])
      const file = staticFile(type as FileType, content.body)
      return { ...file, headers: { ...file.headers, ...content.headers, 'cache-control': FOREVER } }
    }
  }
}
