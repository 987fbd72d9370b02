import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { readPacked } from '../../lib/pack.ts'
import { defineError } from '../../lib/service-error.ts'
import { PAGE, POLICY, START } from './docs-page.ts'

const NoSuchFile = defineError('ERR_NOT_FOUND', 'The documentation has no file "%s". Its start page is /docs.')

/** Where the sources have the document. */
const SOURCE = new URL('../../../openapi.json', import.meta.url)

const JSON_TYPE = 'application/json; charset=utf-8'
const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const CSS = 'text/css; charset=utf-8'

/** The files of Swagger UI that the page loads, by name. */
export const ASSETS: Record<string, string> = { 'swagger-ui.css': CSS, 'swagger-ui-bundle.js': SCRIPT, 'favicon-32x32.png': 'image/png' }

export interface StaticFile {
  headers: Record<string, string>
  body: Buffer | string
}

/**
 * Serves the OpenAPI document and its documentation page. Files are read at each request: from the pack, or where the sources have
 * them.
 */
export function createDocs () {
  const page = (): StaticFile => {
    const { headers, body } = file(HTML, PAGE)
    return { headers: { ...headers, 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' }, body }
  }

  return {
    /** Returns openapi.json. */
    document: async (): Promise<StaticFile> => file(JSON_TYPE, readPacked('openapi.json') ?? await readFile(SOURCE)),

    page,

    /** Returns a file of the page; without a name, as in `/docs/`, the page itself. Throws NoSuchFile (404). */
    async asset (name: string): Promise<StaticFile> {
      if (name === '') return page()
      if (name === 'start.js') return file(SCRIPT, START)
      if (!Object.hasOwn(ASSETS, name)) throw new NoSuchFile(name)
      return file(ASSETS[name], readPacked(`docs/${name}`) ?? await readFile(join(swaggerFolder(), name)))
    }
  }
}

/** The folder of Swagger UI's files in its package, from which the build takes them. */
export const swaggerFolder = (): string => join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui')), 'static')

function file (type: string, body: Buffer | string): StaticFile {
  return { headers: { 'content-type': type, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' }, body }
}
