import fp from 'fastify-plugin'
import { acceptsPage, takesGzip, type StaticFile } from '../../services/http/static-file.ts'
import type { ConsoleFiles } from '../../services/http/console/console-files.ts'

declare module 'fastify' {
  interface FastifyInstance {
    docs: {
      document(takesGzip: boolean): Promise<StaticFile>,
      page(): Promise<StaticFile>,
      asset(name: string, takesGzip: boolean): Promise<StaticFile>
    }
    console: ConsoleFiles
  }
  interface FastifyRequest {
    /** Whether a browser asks in order to show the answer as a page. */
    readonly acceptsPage: boolean
    /** Whether the answer may be compressed with gzip. */
    readonly takesGzip: boolean
  }
  interface FastifyReply {
    sendFile(file: StaticFile): FastifyReply
  }
}

/** The documentation and the console; their code is loaded on first use. */
export default fp(async (app) => {
  const load = async () => (await import('../../services/http/docs/docs.ts')).createDocs()
  app.decorate('docs', {
    document: async (takesGzip) => (await load()).document(takesGzip),
    page: async () => (await load()).page(),
    asset: async (name, takesGzip) => (await load()).asset(name, takesGzip)
  })
  const loadConsole = async () => (await import('../../services/http/console/console-files.ts')).createConsoleFiles()
  app.decorate('console', {
    page: async (takesGzip) => (await loadConsole()).page(takesGzip),
    asset: async (name, takesGzip) => (await loadConsole()).asset(name, takesGzip)
  })
  app.decorateRequest('acceptsPage', {
    getter () {
      return acceptsPage(this.headers.accept)
    }
  })
  app.decorateRequest('takesGzip', {
    getter () {
      return takesGzip(this.headers['accept-encoding'])
    }
  })
  app.decorateReply('sendFile', function ({ headers, body }) {
    return this.headers(headers).send(body)
  })
}, { name: 'pages' })
