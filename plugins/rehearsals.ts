import fp from 'fastify-plugin'
import { createSheets, type Sheets } from '../services/runs/sheets/sheets.ts'

declare module 'fastify' {
  interface FastifyInstance {
    sheets: Sheets
  }
}

/** The sheets of rehearsals (lists of the calls that a run would have made), of conversations and of tasks. */
export default fp(async (app) => {
  const { engine: { runs, grants }, tools: host, tasks, copies } = app
  app.decorate('sheets', createSheets({ runs, grants, host, tasks: tasks.rehearsals, shown: copies.shown }))
}, { name: 'rehearsals', dependencies: ['engine', 'tools', 'tasks', 'copies'] })
