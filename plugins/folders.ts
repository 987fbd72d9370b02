import { homedir } from 'node:os'
import fp from 'fastify-plugin'
import { createFolders, type Folders } from '../services/tools/folders/list-folders.ts'

declare module 'fastify' {
  interface FastifyInstance {
    folders: Folders
  }
}

/** Lists the folders of this computer, so that a person can choose one. */
export default fp<{ home: string }>(async (app, { home }) => {
  app.decorate(
    'folders',
    createFolders({
      clock: app.clock,
      paths: app.paths,
      home: homedir(),
      workspace: app.usualFolder,
      roots: () => app.config.current.roots ?? [],
      own: [home, `${home}-copies`],
      async recent (limit) {
        const { tasks } = await app.tasks.list({ limit: 100 })
        const ofTasks = tasks.map(({ cwd, updatedAt }) => ({ cwd, at: updatedAt }))
        const all = [...ofTasks, ...await app.threads.recentFolders()].sort((a, b) => b.at - a.at)
        return [...new Set(all.map(({ cwd }) => cwd))].slice(0, limit)
      }
    })
  )
}, { name: 'folders', dependencies: ['clock', 'paths', 'tasks', 'threads'] })
