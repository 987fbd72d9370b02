import fp from 'fastify-plugin'
import { acceptsPage, takesGzip, type StaticFile } from '../../services/http/static-file.ts'
import type { PageFiles } from '../../services/http/console/page-files.ts'

declare module 'fastify' {
  interface FastifyInstance {
    docs: {
      document(takesGzip: boolean): Promise<StaticFile>,
      page(): Promise<StaticFile>,
      asset(name: string, takesGzip: boolean): Promise<StaticFile>
    }
    console: PageFiles
    /** The page for paired devices, which the port for devices serves. */
    devicePage: PageFiles
  }
  interface FastifyRequest {
    /** True if a browser asks for a page to display. */
    readonly acceptsPage: boolean
    /** True if the client accepts a response that is compressed with gzip. */
    readonly takesGzip: boolean
  }
  interface FastifyReply {
    sendFile(file: StaticFile): FastifyReply
  }
}

/** The documentation, the console and the page for devices. Their code is loaded on first use. */
export default fp(async (app) => {
  const load = async () => (await import('../../services/http/docs/docs.ts')).createDocs()
  app.decorate('docs', {
    document: async (takesGzip) => (await load()).document(takesGzip),
    page: async () => (await load()).page(),
    asset: async (name, takesGzip) => (await load()).asset(name, takesGzip)
  })
  const filesOf = (folder: 'console' | 'device'): PageFiles => {
    const loadFiles = async () => (await import('../../services/http/console/page-files.ts')).createPageFiles(folder)
    return {
      page: async (takesGzip) => (await loadFiles()).page(takesGzip),
      asset: async (name, takesGzip) => (await loadFiles()).asset(name, takesGzip)
    }
  }
  app.decorate('console', filesOf('console'))
  app.decorate('devicePage', filesOf('device'))
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
