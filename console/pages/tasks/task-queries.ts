import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import {
  getTask,
  getTaskSchedule,
  listFirings,
  listGrants,
  listRehearsals,
  listTaskRuns,
  listTasks,
  type Task,
  type TaskChanges
} from '../../../client/generated/index.ts'
import { keys, queries } from '../../lib/queries.ts'
import { asked, body } from '../../lib/service.ts'

export interface TaskFilter {
  status?: Task['status']
  type?: Task['taskType']
}
export type { Task, TaskChanges }

/** The number of tasks, and of runs, that one request reads. */
const TASKS = 200
const RUNS = 20
const SLOTS = 20
/** The number of next planned times that are shown. */
const UPCOMING = 10

/** The tasks of a state or type, newest first. */
export const taskList = (filter: TaskFilter) => infiniteQueryOptions({
  queryKey: [...keys.tasks(), 'list', filter],
  queryFn: ({ pageParam }) => listTasks({ ...asked(), query: { ...filter, limit: TASKS, cursor: pageParam } }).then(body),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ nextCursor }) => nextCursor
})

export const oneTask = (id: string) => queryOptions({
  queryKey: keys.task(id),
  queryFn: () => getTask({ ...asked(), path: { id } }).then(body)
})

/** The runs of a task, newest first. */
export const taskRuns = (id: string) => infiniteQueryOptions({
  queryKey: [...keys.task(id), 'runs'],
  queryFn: ({ pageParam }) => listTaskRuns({ ...asked(), path: { id }, query: { limit: RUNS, cursor: pageParam } }).then(body),
  initialPageParam: undefined as number | undefined,
  getNextPageParam: ({ nextCursor }) => nextCursor === undefined ? undefined : Number(nextCursor)
})

/** The stored rehearsals of a task, newest first. */
export const taskRehearsals = (id: string) => queryOptions({
  queryKey: [...keys.task(id), 'rehearsals'],
  queryFn: () => listRehearsals({ ...asked(), path: { id } }).then(body)
})

/** The next planned times of a task, and the outcomes of past ones, newest first. */
export const taskSchedule = (id: string) => infiniteQueryOptions({
  queryKey: [...keys.task(id), 'schedule'],
  queryFn: ({ pageParam }) => getTaskSchedule({
    ...asked(),
    path: { id },
    query: { upcoming: pageParam === undefined ? UPCOMING : 0, limit: SLOTS, cursor: pageParam }
  }).then(body),
  initialPageParam: undefined as number | undefined,
  getNextPageParam: ({ nextCursor }) => nextCursor === undefined ? undefined : Number(nextCursor)
})

/** The triggers of a task, and the outcomes of their firings, newest first. */
export const taskFirings = (id: string) => infiniteQueryOptions({
  queryKey: [...keys.task(id), 'firings'],
  queryFn: ({ pageParam }) => listFirings({ ...asked(), path: { id }, query: { limit: SLOTS, cursor: pageParam } }).then(body),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ nextCursor }) => nextCursor
})

export const taskGrants = (id: string) => queryOptions({
  queryKey: [...keys.grants(), id],
  queryFn: () => listGrants({ ...asked(), query: { taskId: id, limit: 500 } }).then(body)
})

/** Stores the response to a change of a task, and invalidates the data that depends on the task. */
export function keepTask (task: Task): void {
  queries.setQueryData(oneTask(task.id).queryKey, task)
  void queries.invalidateQueries({ queryKey: keys.tasks() })
  // Changing the goal of a task ends its grants.
  void queries.invalidateQueries({ queryKey: keys.grants() })
}
