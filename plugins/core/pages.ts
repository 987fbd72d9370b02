import fp from 'fastify-plugin'
import { acceptsPage, type StaticFile } from '../../services/http/static-file.ts'
import type { ConsoleFiles } from '../../services/http/console/console-files.ts'

declare module 'fastify' {
  interface FastifyInstance {
    docs: {
      document(): Promise<StaticFile>,
      page(): Promise<StaticFile>,
      asset(name: string): Promise<StaticFile>
    }
    console: ConsoleFiles
  }
  interface FastifyRequest {
    /** Whether a browser asks in order to show the answer as a page. */
    readonly acceptsPage: boolean
  }
  interface FastifyReply {
    sendFile(file: StaticFile): FastifyReply
  }
}

/** The documentation and the console; their code is loaded on first use. */
export default fp(async (app) => {
  const load = async () => (await import('../../services/http/docs/docs.ts')).createDocs()
  app.decorate('docs', {
    document: async () => (await load()).document(),
    page: async () => (await load()).page(),
    asset: async (name) => (await load()).asset(name)
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
  app.decorateReply('sendFile', function ({ headers, body }) {
    return this.headers(headers).send(body)
  })
}, { name: 'pages' })
