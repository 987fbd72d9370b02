import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { defineError } from '../../lib/service-error.ts'
import { PAGE, POLICY, START } from './docs-page.ts'

declare const PACKAGE_VERSION: string | undefined

const NoSuchFile = defineError('ERR_NOT_FOUND', 'The documentation has no file "%s". Its start page is /docs.')

/** The build copies openapi.json beside the service; in the sources it is in the root folder. */
const DOCUMENT = new URL(typeof PACKAGE_VERSION === 'string' ? './openapi.json' : '../../../openapi.json', import.meta.url)

const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const CSS = 'text/css; charset=utf-8'

/** The files of Swagger UI that the page loads, by name. */
const ASSETS: Record<string, string> = { 'swagger-ui.css': CSS, 'swagger-ui-bundle.js': SCRIPT, 'favicon-32x32.png': 'image/png' }

export interface StaticFile {
  headers: Record<string, string>
  body: Buffer | string
}

/** Serves the OpenAPI document and its documentation page. Files are read at each request. */
export function createDocs () {
  const page = (): StaticFile => {
    const { headers, body } = file(HTML, PAGE)
    return { headers: { ...headers, 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' }, body }
  }

  return {
    /** Returns openapi.json. */
    document: async (): Promise<StaticFile> => file('application/json; charset=utf-8', await readFile(DOCUMENT)),

    page,

    /** Returns a file of the page; without a name, as in `/docs/`, the page itself. Throws NoSuchFile (404). */
    async asset (name: string): Promise<StaticFile> {
      if (name === '') return page()
      if (name === 'start.js') return file(SCRIPT, START)
      if (!Object.hasOwn(ASSETS, name)) throw new NoSuchFile(name)
      const packageFolder = dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui'))
      return file(ASSETS[name], await readFile(join(packageFolder, 'static', name)))
    }
  }
}

function file (type: string, body: Buffer | string): StaticFile {
  return { headers: { 'content-type': type, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' }, body }
}
