import { Type } from '@sinclair/typebox'
import type { Task } from '../../../schemas/tasks.ts'
import type { BuiltinTool } from '../../contracts/tool.ts'
import { conversationWithPerson, type TaskParts } from './task-parts.ts'

interface Input {
  words?: string
}

/** The most tasks that one call lists, and the most characters of each goal. */
const SHOWN = 30
const GOAL_SHOWN = 300
/** The number of tasks that are read at a time. */
const PAGE = 200

/** Creates the tool that lists the background tasks, newest first. */
export function createListTasks (parts: TaskParts): BuiltinTool<Input> {
  return {
    model: {
      name: 'listTasks',
      description: "List the user's background tasks.",
      schema: Type.Object({
        words: Type.Optional(Type.String({ maxLength: 200, description: 'Words of its goal' }))
      }, { additionalProperties: false }),
      use: 'seldom'
    },
    says: { en: { label: 'Look at the tasks', does: 'list the tasks' } },
    policy: { effect: 'read', needs: ['userWords', 'person'] },
    effects: { source: 'tasks' },
    async execute ({ words = '' }, { runId, signal }) {
      const { threadId } = await conversationWithPerson(parts, runId)
      const wanted = words.toLowerCase().split(/\s+/).filter((word) => word !== '')
      const found: Task[] = []
      // Without search words, the first page is enough.
      const limit = wanted.length === 0 ? SHOWN : PAGE
      let cursor: string | undefined
      do {
        signal.throwIfAborted()
        const page = await parts.tasks().list({ limit, ...(cursor !== undefined && { cursor }) })
        found.push(...page.tasks.filter(({ goal }) => wanted.every((word) => goal.toLowerCase().includes(word))))
        cursor = page.nextCursor
      } while (cursor !== undefined && wanted.length > 0)
      return {
        tasks: found.slice(0, SHOWN).map((task) => ({
          taskId: task.id,
          goal: task.goal.slice(0, GOAL_SHOWN),
          status: task.status,
          ...(task.scheduleWords !== undefined && { runs: task.scheduleWords }),
          ...(task.nextRunAt !== undefined && { next: new Date(task.nextRunAt).toISOString() }),
          ...(task.lastRunAt !== undefined && { last: `${new Date(task.lastRunAt).toISOString()}: ${task.lastRunStatus}` }),
          ...(task.threadId === threadId && { madeHere: true })
        })),
        total: wanted.length === 0 ? await parts.tasks().count() : found.length
      }
    }
  }
}
