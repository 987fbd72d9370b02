import { Type } from '@sinclair/typebox'
import type { Task, TaskStatus } from '../../../schemas/tasks.ts'
import { CHANGE_TASK } from '../../contracts/model-texts.ts'
import { asRunTask, type TaskControl, type When } from '../../contracts/task-control.ts'
import type { BuiltinTool } from '../../contracts/tool.ts'
import { ToolFailed } from '../tool-errors.ts'
import { withMending } from '../mend-input.ts'
import {
  ChangedWhenInput,
  conversationWithPerson,
  mendTaskInput,
  nameOf,
  readTime,
  type TaskConversation,
  type TaskParts,
  whenOf,
  whyConfirm
} from './task-parts.ts'

const ACTIONS = ['pause', 'resume', 'cancel', 'run'] as const

interface Input {
  taskId: string
  goal?: string
  when?: When
  action?: typeof ACTIONS[number] | 'delete'
}

/** The statuses of a task in which an action has no effect, because the task is already in the state that the action leads to. */
const LEADS_TO: Record<Exclude<typeof ACTIONS[number], 'run'>, readonly TaskStatus[]> = {
  pause: ['paused'],
  resume: ['scheduled', 'running'],
  cancel: ['cancelled']
}

const plain = (options: object = {}) => JSON.stringify(Object.entries(JSON.parse(JSON.stringify(options))).sort())
/** True if a task has the folder and options of the conversation, so that a new goal gives the conversation no further rights. */
const isAlike = (task: Task, conversation: TaskConversation | undefined) =>
  task.cwd === conversation?.cwd && plain(task.options) === plain(conversation?.options)

/** Creates the tool that changes a background task. Changing a task that was not made in this conversation needs the user's approval. */
export function createChangeTask (parts: TaskParts): BuiltinTool<Input> {
  async function change (
    tasks: TaskControl,
    { taskId, goal, action }: Input,
    { threadId, written }: TaskConversation,
    schedule?: object
  ): Promise<void> {
    if (goal !== undefined || schedule !== undefined) {
      await tasks.update(taskId, { ...(goal !== undefined && { goal }), ...(schedule && { schedule }) }, { threadId, written })
    }
    // `run` gets a key, so that a message that is answered again, for example after a crash, does not start a second run.
    if (action === 'run') return void await tasks.run(taskId, {}, JSON.stringify([threadId, written]))
    if (action === undefined || action === 'delete') return
    if (!LEADS_TO[action].includes((await tasks.get(taskId)).status)) await tasks[action](taskId)
  }

  return {
    model: {
      name: CHANGE_TASK,
      description: 'Change the goal or the times of a background task, or end it; delete removes its results, too.',
      schema: withMending(Type.Object({
        taskId: Type.String({ minLength: 1, maxLength: 200, description: 'Its id' }),
        goal: Type.Optional(Type.String({ minLength: 1, maxLength: 20_000, pattern: '\\S', description: 'Its new goal' })),
        when: Type.Optional(ChangedWhenInput),
        action: Type.Optional(Type.Unsafe<NonNullable<Input['action']>>({
          type: 'string',
          enum: [...ACTIONS, 'delete'],
          description: 'Done at once'
        }))
      }, { additionalProperties: false }), mendTaskInput),
      use: 'seldom',
      findMistake: ({ goal, when, action }) =>
        goal === undefined && when === undefined && action === undefined ? 'Name a change: goal, when or action.' : undefined
    },
    says: { en: { label: 'Change a task', does: 'change the task' }, about: ['taskId'] },
    policy: {
      effect: 'write',
      needs: ['userWords', 'person'],
      async permission ({ taskId, goal, when }, { runId }) {
        const conversation = await parts.conversationOf(runId)
        const task = await parts.tasks().get(taskId).catch(() => undefined)
        const isForeign = task !== undefined && task.threadId !== conversation?.threadId
        if (isForeign) return `The task ${nameOf(task)} was not made in this conversation.`
        if (task !== undefined && goal !== undefined && !isAlike(task, conversation)) {
          return `The task ${nameOf(task)} has another folder, or other tools or limits, than this conversation has now.`
        }
        return whyConfirm(parts, when, conversation?.written)
      }
    },
    effects: { source: 'memory' },
    async execute (input, { runId }) {
      const conversation = await conversationWithPerson(parts, runId)
      const tasks = parts.tasks()
      const { taskId, when, action } = input
      const before = await tasks.get(taskId)
      const time = await readTime(parts, when)
      if (when !== undefined && time === undefined) throw new ToolFailed('"when" names no time. To run the task now, use the action "run".')
      await change(tasks, input, conversation, time?.schedule)
      if (action === 'delete') {
        await tasks.remove(taskId)
        return { deleted: taskId, message: `I deleted the task ${nameOf(before)} with its results.` }
      }
      const task = await tasks.get(taskId)
      return { task: asRunTask(task, time), message: `The task is now ${nameOf(task)}. ${whenOf(task, time)}` }
    }
  }
}
