import type { DigestDenied } from '../../../schemas/digest.ts'
import type { GrantBody, Scope } from '../../../schemas/grants.ts'
import { scopeText } from '../../approvals/index.ts'
import type { RunDeps } from '../task-deps.ts'
import type { StoredTask } from '../task-records.ts'
import type { DeniedCall } from './by-task.ts'

/** Characters of the input of a grant that the digest offers, as JSON. */
const MOST_INPUT = 20_000
/** The scopes that would have allowed a call, the most useful for later runs first: files change their content, hosts their pages. */
const USEFUL: ReadonlyArray<Exclude<Scope, 'once'>> = ['folder', 'host', 'exact', 'tool']

/** What would have allowed a denied call; empty where no grant would, such as for a command without a token or a very long input. */
export type MissingGrant = Pick<DigestDenied, 'grant' | 'covers' | 'isGranted'>

/** Returns the body for `POST /grants` that would have allowed a call of a task, as the grant service would take it now. */
export async function missingGrant (
  { grants, host }: Pick<RunDeps, 'grants' | 'host'>,
  { id: taskId, cwd }: Pick<StoredTask, 'id' | 'cwd'>,
  { toolName, input }: DeniedCall
): Promise<MissingGrant> {
  if (typeof input !== 'object' || input === null || host.find(toolName) === undefined) return {}
  if (JSON.stringify(input).length > MOST_INPUT) return {}
  const folder = await host.folders.of(toolName, input, cwd).catch(() => undefined)
  if (folder === undefined) return {}
  const facts = await grants.facts({ toolName, input }, { folder, cwd }, host)
  // What approved runs have taught holds in some runs alone.
  if (await grants.covering({ taskId }, facts, ({ source }) => source !== 'approved_runs')) return { isGranted: true }
  const offered = grants.scopes(facts, host).map(({ scope }) => scope)
  const scope = USEFUL.find((each) => offered.includes(each))
  if (scope === undefined) return {}
  return { grant: { taskId, toolName, input: input as GrantBody['input'], scope, cwd }, covers: scopeText(scope, facts) }
}
