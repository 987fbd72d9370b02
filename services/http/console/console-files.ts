import { extname } from 'node:path'
import { openPack } from '../../lib/pack.ts'
import { defineError } from '../../lib/service-error.ts'
import { staticFile, staticPage, TYPES, type FileType, type StaticFile, packedFile } from '../static-file.ts'

const NotBuilt = defineError('ERR_NOT_FOUND', 'The console is part of the built service: run "npm run build" and start dist/server.js.')
const NoSuchFile = defineError('ERR_NOT_FOUND', 'The console has no file "%s". Its start page is /console.')

/** The names of assets hold a digest of their content. */
const FOREVER = 'public, max-age=31536000, immutable'

export type ConsoleFiles = ReturnType<typeof createConsoleFiles>

/** Serves the files of the console, which the pack holds compressed. They are read at each request. */
export function createConsoleFiles () {
  async function read (name: string, takesGzip: boolean): Promise<StaticFile | undefined> {
    if (openPack() === undefined) throw new NotBuilt()
    return packedFile(`console/${name}`, takesGzip)
  }

  return {
    /** Returns the page, which is the same for all paths. Throws ERR_NOT_FOUND (404) when the service runs from its sources. */
    async page (takesGzip: boolean): Promise<StaticFile> {
      const { body, headers } = (await read('index.html', takesGzip))!
      const page = staticPage(body)
      return { ...page, headers: { ...page.headers, ...headers } }
    },

    /** Returns a file that the page loads. Throws ERR_NOT_FOUND (404). */
    async asset (name: string, takesGzip: boolean): Promise<StaticFile> {
      const type = extname(name).slice(1)
      const content = Object.hasOwn(TYPES, type) ? await read(`assets/${name}`, takesGzip) : undefined
      if (content === undefined) throw new NoSuchFile(name)
      const file = staticFile(type as FileType, content.body)
      return { ...file, headers: { ...file.headers, ...content.headers, 'cache-control': FOREVER } }
    }
  }
}
