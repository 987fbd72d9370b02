import fp from 'fastify-plugin'
import { createSheets, type Sheets } from '../services/runs/sheets/sheets.ts'

declare module 'fastify' {
  interface FastifyInstance {
    sheets: Sheets
  }
}

/** The sheets of rehearsals, whoever they belong to. */
export default fp(async (app) => {
  const { engine, tasks, agent, copies } = app
  app.decorate('sheets', createSheets({ runs: engine.runs, ofTasks: tasks.rehearsals, ofThreads: agent.dryRuns, shown: copies.shown }))
}, { name: 'rehearsals', dependencies: ['engine', 'tasks', 'agent', 'copies'] })
