import fp from 'fastify-plugin'
import type { StaticFile } from '../../services/http/docs/docs.ts'

declare module 'fastify' {
  interface FastifyInstance {
    docs: {
      document(): Promise<StaticFile>,
      page(): Promise<StaticFile>,
      asset(name: string): Promise<StaticFile>
    }
  }
  interface FastifyReply {
    sendFile(file: StaticFile): FastifyReply
  }
}

/** The documentation; loaded on first use. */
export default fp(async (app) => {
  const load = async () => (await import('../../services/http/docs/docs.ts')).createDocs()
  app.decorate('docs', {
    document: async () => (await load()).document(),
    page: async () => (await load()).page(),
    asset: async (name) => (await load()).asset(name)
  })
  app.decorateReply('sendFile', function ({ headers, body }) {
    return this.headers(headers).send(body)
  })
}, { name: 'docs' })
