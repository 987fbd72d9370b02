import type { GrantBody, GrantView } from '../../../schemas/grants.ts'
import type { RunOptions } from '../../../schemas/run-options.ts'
import type { Thread, ThreadSettings } from '../../../schemas/threads.ts'
import { firstOf } from '../../lib/first-of.ts'
import { workingFolder } from '../../lib/working-folder.ts'
import { folderGone, type ToolHost } from '../../tools/index.ts'
import { isSourceTool } from '../../contracts/tool.ts'
import { GrantRefused } from '../approval-errors.ts'
import type { Owner } from '../../contracts/approval-record.ts'
import type { Grants } from './grants.ts'

export type GrantService = ReturnType<typeof createGrantService>

/** Lists, adds and removes grants at the user's request. */
export function createGrantService ({ grants, host, withRunTools, resolve, tasks, threads, runs, workspace }: {
  grants: Grants,
  host: ToolHost,
  /** Returns the host with the tools that a run with these options has. */
  withRunTools: (host: ToolHost, options: RunOptions | undefined) => ToolHost,
  /** Resolves the options of a run that begins now: combines the given options with those of the agent that they name. */
  resolve: (options: Array<RunOptions | undefined>) => Promise<{ options?: RunOptions }>,
  /** Reads tasks; `get` throws TaskNotFound (404). */
  tasks: { get(taskId: string): Promise<{ cwd: string, options?: RunOptions }> },
  /** Reads threads; `get` throws ThreadNotFound (404). */
  threads: { get(threadId: string, page: { limit: number }): Promise<Pick<Thread, 'settings'>> },
  runs: {
    /** Yields the ids of the runs of a thread, the newest first. */
    ofThread(threadId: string): AsyncGenerator<string>,
    get(runId: string): Promise<{ options?: RunOptions } | undefined>
  },
  /** The working directory of conversations, unless the request or their settings name another. */
  workspace: () => string
}) {
  /**
   * Throws GrantRefused (400) unless the tool exists, needs an approval, and accepts the input. Without an input, the tool is granted as a
   * whole.
   */
  function assertGrantable ({ toolName, input, scope }: GrantBody, tools: ToolHost) {
    if (scope === 'once') throw new GrantRefused('The scope "once" belongs to the answer to an approval request.')
    const permission = tools.permission(toolName)
    if (tools.find(toolName) !== undefined && permission !== 'ask') {
      throw new GrantRefused(
        permission === 'allow'
          ? `${toolName} needs no approval, so there is nothing to grant.`
          : `${toolName} is denied by config.permissions, which wins.`
      )
    }
    if (input === undefined && scope !== 'tool') {
      throw new GrantRefused(`The scope "${scope}" needs "input": the input of a call that the grant covers.`)
    }
    const tool = tools.find(toolName)
    if (input === undefined && tool !== undefined) {
      if (!isSourceTool(tool)) {
        throw new GrantRefused(`${toolName} cannot be granted as a whole. Give "input" and another scope.`)
      }
      return
    }
    const valid = tools.validate(toolName, input ?? {})
    if (!valid.ok) throw new GrantRefused(valid.error)
  }

  /**
   * Returns the options that define the tool of an application for a thread: the options of the thread's settings, else of its newest run;
   * undefined if neither define the tool.
   */
  async function appOptions (threadId: string, { agent, options }: ThreadSettings, toolName: string): Promise<RunOptions | undefined> {
    const newest = await firstOf(runs.ofThread(threadId))
    const set = await resolve([{ ...options, ...agent !== undefined && { agent } }])
    const used = newest === undefined ? undefined : await runs.get(newest)
    return [set, used].find((known) => known?.options?.appTools?.some(({ name }) => name === toolName))?.options
  }

  /** Returns the owner of a grant, the working folder of the owner's runs, and the tools of these runs. */
  async function ownerOf ({ threadId, taskId, toolName }: GrantBody): Promise<{ owner: Owner, cwd: string, tools: ToolHost }> {
    if ((threadId === undefined) === (taskId === undefined)) throw new GrantRefused('Give either "threadId" or "taskId".')
    if (taskId !== undefined) {
      const { cwd, options: given } = await tasks.get(taskId)
      const { options } = await resolve([given])
      return { owner: { taskId }, cwd, tools: withRunTools(host, options) }
    }
    const { settings = {} } = await threads.get(threadId!, { limit: 1 })
    const options = await appOptions(threadId!, settings, toolName)
    return { owner: { threadId: threadId! }, cwd: settings.cwd ?? workspace(), tools: withRunTools(host, options) }
  }

  return {
    list: grants.list,
    remove: grants.remove,

    /** Stores a grant. Throws GrantRefused or BadFolder (400), TooManyGrants (409), and what finding its owner throws (404). */
    async add (body: GrantBody): Promise<GrantView> {
      const { owner, cwd: usual, tools } = await ownerOf(body)
      assertGrantable(body, tools)
      const cwd = await workingFolder(body.cwd, usual)
      const folder = await host.folders.of(body.toolName, body.input ?? {}, cwd)
      if (folder === undefined) throw new GrantRefused(folderGone(cwd))
      const [view] = await grants.addAll(owner, [{ ...body, place: { folder, cwd } }], tools, { source: 'request' })
      return view
    }
  }
}
