import type { GrantBody, Scope } from '../../../schemas/grants.ts'
import type { RunDeps } from '../task-deps.ts'
import type { StoredTask } from '../task-records.ts'
import type { DeniedCall } from './by-task.ts'

/** Characters of the input of a grant that the digest offers, as JSON. */
const MOST_INPUT = 20_000
/** The scopes that would have allowed a call, the most useful for later runs first: files change their content, hosts their pages. */
const USEFUL: readonly Scope[] = ['folder', 'host', 'exact', 'tool']

/**
 * Returns the body for `POST /grants` that would have allowed a call of a task, as the grant service would take it now; undefined where
 * none would, such as for a command without a token, and for a call with a very long input.
 */
export async function missingGrant (
  { grants, host }: Pick<RunDeps, 'grants' | 'host'>,
  { id: taskId, cwd }: Pick<StoredTask, 'id' | 'cwd'>,
  { toolName, input }: DeniedCall
): Promise<GrantBody | undefined> {
  if (typeof input !== 'object' || input === null || host.find(toolName) === undefined) return undefined
  if (JSON.stringify(input).length > MOST_INPUT) return undefined
  const folder = await host.folders.of(toolName, input, cwd).catch(() => undefined)
  if (folder === undefined) return undefined
  const offered = grants.scopes(await grants.facts({ toolName, input }, { folder, cwd }, host), host).map(({ scope }) => scope)
  const scope = USEFUL.find((each) => offered.includes(each))
  return scope === undefined ? undefined : { taskId, toolName, input: input as GrantBody['input'], scope, cwd }
}
