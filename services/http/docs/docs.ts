import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { defineError } from '../../lib/service-error.ts'
import { staticFile, staticPage, type FileType, type StaticFile, packedFile } from '../static-file.ts'

const PAGE = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>local-agent-service: interface</title>
  <link rel="stylesheet" href="/docs/swagger-ui.css">
  <link rel="icon" href="/docs/favicon-32x32.png">
</head>
<body>
  <form class="swagger-ui" hidden>
    <label>This service needs its token (LOCAL_AGENT_TOKEN): <input type="password" name="token" autocomplete="off"></label>
    <button class="btn">Show the interface</button>
    <p role="alert"></p>
  </form>
  <div id="interface"></div>
  <script src="/docs/swagger-ui-bundle.js"></script>
  <script src="/docs/start.js"></script>
</body>
</html>
`

/** The script of the page. It asks for the token only if the service needs one, and keeps the token only while the page is open. */
const START = `'use strict'
const form = document.querySelector('form')

async function show (token) {
  const answer = await fetch('/openapi.json', { headers: token ? { authorization: 'Bearer ' + token } : {} })
  if (answer.status === 401) {
    form.hidden = false
    document.querySelector('[role=alert]').textContent = token ? 'That is not the token.' : ''
    return
  }
  form.hidden = true
  const spec = await answer.json()
  const ui = SwaggerUIBundle({
    dom_id: '#interface',
    // Calls go to this service, whatever port it has.
    spec: { ...spec, servers: [{ url: location.origin }] },
    validatorUrl: null,
    deepLinking: true,
    onComplete: () => { if (token) ui.preauthorizeApiKey('token', token) }
  })
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  show(form.token.value)
})
show('')
`

const NoSuchFile = defineError('ERR_NOT_FOUND', 'The documentation has no file "%s". Its start page is /docs.')

/** The path of openapi.json when the service runs from its sources. */
const SOURCE = new URL('../../../openapi.json', import.meta.url)

/** The files of Swagger UI that the page loads, by name. */
export const ASSETS: Record<string, FileType> = { 'swagger-ui.css': 'css', 'swagger-ui-bundle.js': 'js', 'favicon-32x32.png': 'png' }

/**
 * Creates the service for the OpenAPI document and its documentation page. Each request reads the file again:
 * from the pack, which holds the files compressed, or from the source folders.
 */
export function createDocs () {
  const page = (): StaticFile => staticPage(PAGE)

  async function read (type: FileType, packed: string, path: () => URL | string, takesGzip: boolean): Promise<StaticFile> {
    const content = await packedFile(packed, takesGzip)
    const file = staticFile(type, content?.body ?? await readFile(path()))
    return { ...file, headers: { ...file.headers, ...content?.headers } }
  }

  return {
    /** Returns openapi.json. */
    document: (takesGzip: boolean): Promise<StaticFile> => read('json', 'openapi.json', () => SOURCE, takesGzip),

    page,

    /** Returns a file of the page; the page itself for an empty name, as in `/docs/`. Throws NoSuchFile (404). */
    async asset (name: string, takesGzip: boolean): Promise<StaticFile> {
      if (name === '') return page()
      if (name === 'start.js') return staticFile('js', START)
      if (!Object.hasOwn(ASSETS, name)) throw new NoSuchFile(name)
      return read(ASSETS[name], `docs/${name}`, () => join(swaggerFolder(), name), takesGzip)
    }
  }
}

/** Returns the folder of Swagger UI's files in its npm package, from which the build takes them. */
export const swaggerFolder = (): string => join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui')), 'static')
