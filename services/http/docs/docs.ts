import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { readPacked } from '../../lib/pack.ts'
import { defineError } from '../../lib/service-error.ts'
import { staticFile, staticPage, type FileType, type StaticFile } from '../static-file.ts'
import { PAGE, START } from './docs-page.ts'

const NoSuchFile = defineError('ERR_NOT_FOUND', 'The documentation has no file "%s". Its start page is /docs.')

/** Where the sources have the document. */
const SOURCE = new URL('../../../openapi.json', import.meta.url)

/** The files of Swagger UI that the page loads, by name. */
export const ASSETS: Record<string, FileType> = { 'swagger-ui.css': 'css', 'swagger-ui-bundle.js': 'js', 'favicon-32x32.png': 'png' }

/**
 * Serves the OpenAPI document and its documentation page. Files are read at each request: from the pack, or where the sources have
 * them.
 */
export function createDocs () {
  const page = (): StaticFile => staticPage(PAGE)

  return {
    /** Returns openapi.json. */
    document: async (): Promise<StaticFile> => staticFile('json', readPacked('openapi.json') ?? await readFile(SOURCE)),

    page,

    /** Returns a file of the page; without a name, as in `/docs/`, the page itself. Throws NoSuchFile (404). */
    async asset (name: string): Promise<StaticFile> {
      if (name === '') return page()
      if (name === 'start.js') return staticFile('js', START)
      if (!Object.hasOwn(ASSETS, name)) throw new NoSuchFile(name)
      return staticFile(ASSETS[name], readPacked(`docs/${name}`) ?? await readFile(join(swaggerFolder(), name)))
    }
  }
}

/** The folder of Swagger UI's files in its package, from which the build takes them. */
export const swaggerFolder = (): string => join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui')), 'static')
