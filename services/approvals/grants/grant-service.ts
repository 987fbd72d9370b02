import type { GrantBody, GrantView } from '../../../schemas/grants.ts'
import { workingFolder } from '../../lib/working-folder.ts'
import type { ToolHost } from '../../tools/host.ts'
import { folderGone } from '../../tools/work-folder.ts'
import { GrantRefused } from '../approval-errors.ts'
import type { Owner } from '../approval-record.ts'
import type { Grants } from './grants.ts'

export type GrantService = ReturnType<typeof createGrantService>

/** Lists, adds and removes grants at the user's request. */
export function createGrantService ({ grants, host, tasks, threads, workspace }: {
  grants: Grants,
  host: Pick<ToolHost, 'find' | 'permission' | 'validate' | 'folders'>,
  /** Throws TaskNotFound (404). */
  tasks: { get(taskId: string): Promise<{ cwd: string }> },
  /** Throws ThreadNotFound (404). */
  threads: { get(threadId: string): Promise<unknown> },
  /** The working directory of conversations, unless the request names another. */
  workspace: () => string
}) {
  /** Throws GrantRefused (400) unless the tool exists, needs an approval, and takes the input. */
  function assertGrantable ({ tool, input, scope }: GrantBody) {
    if (scope === 'once') throw new GrantRefused('The scope "once" belongs to the answer to an approval request.')
    const permission = host.permission(tool)
    if (host.find(tool) !== undefined && permission !== 'ask') {
      throw new GrantRefused(
        permission === 'allow'
          ? `${tool} needs no approval, so nothing is to be granted.`
          : `${tool} is denied by config.permissions, which wins.`
      )
    }
    const valid = host.validate(tool, input)
    if (!valid.ok) throw new GrantRefused(valid.error)
  }

  async function ownerOf ({ threadId, taskId }: GrantBody): Promise<{ owner: Owner, cwd: string }> {
    if ((threadId === undefined) === (taskId === undefined)) throw new GrantRefused('Give either "threadId" or "taskId".')
    if (taskId !== undefined) return { owner: { taskId }, cwd: (await tasks.get(taskId)).cwd }
    await threads.get(threadId!)
    return { owner: { threadId: threadId! }, cwd: workspace() }
  }

  return {
    list: grants.list,
    remove: grants.remove,

    /** Stores a grant. Throws GrantRefused or BadFolder (400), TooManyGrants (409), and what finding its owner throws (404). */
    async add (body: GrantBody): Promise<GrantView> {
      const { owner, cwd: usual } = await ownerOf(body)
      assertGrantable(body)
      const cwd = await workingFolder(body.cwd, usual)
      const folder = await host.folders.of(body.tool, body.input, cwd)
      if (folder === undefined) throw new GrantRefused(folderGone(cwd))
      return grants.add(owner, body, folder)
    }
  }
}
