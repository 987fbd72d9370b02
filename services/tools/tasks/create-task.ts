import { Type } from '@sinclair/typebox'
import { CREATE_TASK } from '../../contracts/model-texts.ts'
import { asRunTask, type When } from '../../contracts/task-control.ts'
import type { BuiltinTool } from '../../contracts/tool.ts'
import { ToolFailed } from '../tool-errors.ts'
import { withMending } from '../mend-input.ts'
import {
  asksOf,
  conversationWithPerson,
  mendTaskInput,
  nameOf,
  readTime,
  type TaskParts,
  WhenInput,
  whenOf,
  whyConfirm,
  whyConfirmGoal
} from './task-parts.ts'

interface Input {
  goal: string
  when?: When
}

/** The most tasks made in one conversation. */
const MOST_TASKS = 10

/** Creates the tool that makes a background task. The task gets the folder, the tools and the limits of the conversation. */
export function createCreateTask (parts: TaskParts): BuiltinTool<Input> {
  return {
    model: {
      name: CREATE_TASK,
      description: 'Make a background task for what the user wants done later, again and again, or in the background. They can undo ' +
        'it, so ask only when the time is in doubt.',
      compact: {
        description: 'Make a task for work to do later or again and again.',
        schema: Type.Object({ goal: Type.String(), at: Type.Optional(Type.String()), every: Type.Optional(Type.String()) })
      },
      schema: withMending(Type.Object({
        goal: Type.String({
          minLength: 1,
          maxLength: 20_000,
          pattern: '\\S',
          description: 'Clear without this conversation; leave out when it runs'
        }),
        when: Type.Optional(WhenInput)
      }, { additionalProperties: false }), mendTaskInput)
    },
    says: { en: { label: 'Create a task', does: 'make the task' }, about: ['goal'] },
    policy: {
      effect: 'write',
      needs: ['userWords', 'person'],
      timeLimitMs: 120_000,
      permission: async ({ when }, { runId, textOfOthers }) =>
        await whyConfirmGoal(textOfOthers) ?? whyConfirm(parts, when, (await parts.conversationOf(runId))?.written)
    },
    async execute ({ goal, when }, { runId, signal }) {
      const { threadId, cwd, options, written, turns } = await conversationWithPerson(parts, runId)
      const tasks = parts.tasks()
      const time = await readTime(parts, when)
      const origin = JSON.stringify([threadId, cwd, turns, goal, when])
      const known = await tasks.launched(origin)
      if (known !== undefined) {
        const view = asRunTask(known, time, { isNew: true })
        const message = `There is this task already: ${nameOf(known)}. ${whenOf(known, time)}`
        return { task: view, isKnown: true, asks: asksOf(known), message }
      }
      if (await tasks.countMadeIn(threadId) >= MOST_TASKS) {
        throw new ToolFailed(`This conversation has made ${MOST_TASKS} tasks already, which is as many as it can. Some can be deleted.`)
      }
      const body = { goal, cwd, ...(options && { options }), ...(time && { schedule: time.schedule }) }
      const task = await tasks.launch(body, signal, { threadId, origin, written })
      const view = asRunTask(task, time, { isNew: true })
      return { task: view, asks: asksOf(task), message: `I made the task ${nameOf(task)}. ${whenOf(task, time)} The user can undo it.` }
    }
  }
}
