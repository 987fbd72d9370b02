import type { OfferedScope, Scope, GrantBody, GrantView, Until } from '../../../schemas/grants.ts'
import type { CallFacts, Grant } from '../../contracts/grant-record.ts'
import { type Owner, ownerOf, ownerText, shownFolder, type ToolItem } from '../../contracts/approval-record.ts'
import { inState } from '../../contracts/approval-states.ts'
import type { Clock } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import { takePage } from '../../lib/pages.ts'
import { grantKey, GRANTS, type Op, ownerGrantsPrefix, type Store, unlessDamaged } from '../../store/index.ts'
import { sayTool } from '../../tools/index.ts'
import { GrantNotFound, GrantRefused, TooManyGrants } from '../approval-errors.ts'
import { createDecided } from '../decided.ts'
import { type CallPlace, covers, factsOf, type GrantTools, hostsOf, offeredScopes, scopeText } from './grant-facts.ts'
import { type Found, joinPlaces, type Lesson, learnedText, lessonOf, meetsPlaces } from './learned.ts'
import { isSuspendedByBox, suspendedBy } from './later-writes.ts'
import { createMadeFiles } from './made-files.ts'

export type Grants = ReturnType<typeof createGrants>

/** The most grants of a conversation or task: each call is compared with all of them. */
const MOST_GRANTS = 200
/** The most ended or suspended grants that are remembered, the newest ones. All uses of older ones are on disk already. */
const MOST_ENDED = 10 * MOST_GRANTS
/** The most characters of an input that a grant keeps, as JSON. */
const INPUT_KEPT = 20_000

/** A grant that is requested without a call. `place` is the folder in which the calls that it covers work. */
type RequestedGrant = Pick<GrantBody, 'toolName' | 'input' | 'scope' | 'until'> & { place: CallPlace, isAddress?: boolean }

/** Permissions for later calls, beyond the one that was approved. Methods that return operations leave the commit to the caller. */
export function createGrants ({ store, clock, tools, hasToken, largestKept }: {
  store: Store,
  clock: Clock,
  tools: GrantTools,
  /**
   * Whether requests to the service need a token. Without a token, every program on the computer could answer its own approval requests.
   */
  hasToken: boolean
  /** Returns the size in bytes up to which a deleted file is kept for undo. */
  largestKept: () => number
}) {
  const locked = createKeyedLock()
  const decided = createDecided({ store, now: clock.now })
  /**
   * The ids of grants that ended because their owner was deleted or got another goal. If a use of such a grant is being stored at that
   * moment, it must not bring the grant back.
   */
  const ended = new Set<string>()
  /**
   * The suspensions since the service started, by the id of the grant. If a use is being stored at that moment, it must not remove the
   * suspension.
   */
  const resting = new Map<string, Grant['suspended']>()
  const prefixOf = (owner: Owner) => ownerGrantsPrefix(store.digest(ownerText(owner)))
  const keyOf = (grant: Grant) => grantKey(store.digest(ownerText(grant)), grant.grantId)
  const put = (grant: Grant): Op => ({ type: 'put', key: keyOf(grant), value: grant })
  const isCommand = ({ toolName }: Pick<CallFacts, 'toolName'>) => tools.find(toolName)?.effects?.command !== undefined

  const startedAt = clock.now() - clock.monotonic()
  /** Returns the time, which does not go back while the service runs. */
  const time = () => Math.max(clock.now(), startedAt + clock.monotonic())
  const lasts = ({ until, uses, endedAt, suspended }: Grant) =>
    endedAt === undefined && suspended === undefined && (until?.at === undefined || until.at > time()) &&
    (until?.uses === undefined || uses < until.uses)
  /** Stores the end of grants whose time has passed, so that they do not return if the clock is set back. */
  async function keepEnds (grants: readonly Grant[]): Promise<void> {
    const over = grants.filter(({ until, endedAt }) => endedAt === undefined && until?.at !== undefined && until.at <= time())
    if (over.length > 0) await store.transact(over.map((grant) => put({ ...grant, endedAt: time() })))
  }
  /**
   * Whether a grant can be used. For a command, the service needs a token, unless the command runs in the box (the sandbox of its folder)
   * or a person has approved this very command in earlier runs.
   */
  const mayRun = (grant: Grant) => hasToken || grant.source === 'approved_runs' || grant.scope === 'sandbox' || !isCommand(grant)

  async function all (owner: Owner): Promise<Grant[]> {
    const found: Grant[] = []
    for await (const [, grant] of store.list<Grant>(prefixOf(owner), { damaged () {} })) found.push(grant)
    return found
  }

  /** Returns what an approved call teaches, if that is new, and the learned grants that cover the call already. */
  function lessonFor (facts: CallFacts, { shown = [], others }: Partial<Found>, known: readonly Grant[]) {
    const tool = tools.find(facts.toolName)
    const found = tool?.effects?.files === undefined || others === undefined ? undefined : { shown, others }
    const alike = known.filter((grant) => grant.source === 'approved_runs' && covers(grant, facts))
    return { alike, lesson: alike.some((grant) => meetsPlaces(grant, found)) ? undefined : lessonOf(tool, facts, found, known) }
  }

  /** Returns the facts of a call as they were shown in its request. */
  function factsAsked (item: ToolItem): CallFacts {
    const tool = tools.find(item.toolName)
    const hosts = hostsOf(tool, item.input)
    return { ...item, does: sayTool(item.toolName, tool), folder: shownFolder(item), ...(hosts.length > 0 && { hosts }) }
  }

  function newGrant (
    owner: Owner,
    facts: CallFacts,
    rest: Pick<Grant, 'scope' | 'source' | 'until' | 'approvalId' | 'sheet'> & Partial<Lesson>
  ): Grant {
    const { toolName, input, digest, identity, places, hosts, boundary } = facts
    const isConfined = boundary?.is === 'confined'
    const folder = isConfined && rest.scope === 'sandbox' ? boundary.folder : facts.folder
    return {
      ...ownerOf(owner),
      grantId: newId(),
      ...{ toolName, digest, folder, identity, places, hosts },
      ...(input !== undefined && JSON.stringify(input).length <= INPUT_KEPT && { input }),
      ...(isConfined && { isConfined }),
      text: scopeText(rest.scope, facts),
      ...rest,
      uses: 0,
      createdAt: clock.now()
    }
  }

  /** Throws GrantRefused (400) unless a call with these facts can have that scope. */
  function assertOffered (scopes: readonly OfferedScope[], scope: Scope, facts: CallFacts): asserts scope is Exclude<Scope, 'once'> {
    if (scope !== 'once' && scopes.some((offered) => offered.scope === scope)) return
    throw new GrantRefused(
      isCommand(facts) && !hasToken && scope === 'exact'
        ? 'A command can be granted only when the service is started with a token (LOCAL_AGENT_TOKEN), because a command could ' +
          'otherwise answer its own requests.'
        : `This call of ${facts.toolName} can be granted with ${scopes.map((offered) => `"${offered.scope}"`).join(', ')}, not with ` +
          `"${scope}".`
    )
  }

  /** Throws GrantRefused (400) if the end has passed. */
  function assertLasts (until: Until | undefined) {
    if (until?.at !== undefined && until.at <= clock.now()) throw new GrantRefused('until.at has passed already; give a later time.')
  }

  /** Returns the operations that end the suspension of grants for a command that a person has approved again. */
  async function awaken (owner: Owner, { toolName, digest }: Pick<ToolItem, 'toolName' | 'digest'>): Promise<Op[]> {
    const alike = (await all(owner)).filter((grant) => grant.toolName === toolName && grant.digest === digest)
    for (const { grantId } of alike) resting.delete(grantId)
    return alike.filter(({ suspended }) => suspended).map(({ suspended, ...grant }) => put(grant))
  }

  async function assertRoom (owner: Owner, more = 1) {
    if ((await all(owner)).length + more > MOST_GRANTS) throw new TooManyGrants(String(MOST_GRANTS))
  }

  /**
   * Stores grants that were requested without a call, all or none of them, in one transaction with the operations of `more`. `isAddress`:
   * the call asks only because of its address. Throws GrantRefused (400), TooManyGrants (409).
   */
  async function addAll (
    owner: Owner,
    requested: readonly RequestedGrant[],
    ofOwner: GrantTools,
    { more = () => [], ...origin }: Pick<Grant, 'source' | 'sheet'> & { more?: (grants: readonly Grant[]) => Op[] }
  ): Promise<GrantView[]> {
    const facts = await Promise.all(requested.map(async ({ toolName, input, scope, until, place, isAddress }) => {
      // A whole tool needs no example: its facts do not depend on the input.
      const found = await factsOf(ofOwner, { toolName, input: input ?? {} }, place, largestKept())
      assertOffered(offeredScopes(ofOwner.find(toolName), found, hasToken, isAddress), scope, found)
      assertLasts(until)
      return { ...found, input }
    }))
    return locked(ownerText(owner), async () => {
      await assertRoom(owner, requested.length)
      const made = facts.map((each, at) => {
        const { scope, until } = requested[at]
        return newGrant(owner, each, { scope: scope as Grant['scope'], until, ...origin })
      })
      await store.transact([...made.flatMap((grant) => [put(grant), ...decided.keptGrant(grant, 'approved')]), ...more(made)])
      return made.map(grantView)
    })
  }

  return {
    all,
    isCommand,

    /** Returns the facts of a call that decide which grants cover it. `ofRun` are the tools of the call's run. */
    facts: (call: { toolName: string, input: unknown }, place: CallPlace, ofRun: GrantTools) => factsOf(ofRun, call, place, largestKept()),

    /** Returns the scopes that an answer can choose for a call. */
    scopes: (facts: CallFacts, ofRun: GrantTools, isAddress = false): OfferedScope[] =>
      offeredScopes(ofRun.find(facts.toolName), facts, hasToken, isAddress),

    /** Returns a grant that covers the call; undefined if there is none. `isAllowed` can exclude grants. */
    async covering (owner: Owner, facts: CallFacts, isAllowed: (grant: Grant) => boolean): Promise<Grant | undefined> {
      if (facts.uncopied !== undefined) return undefined
      const known = await all(owner)
      await keepEnds(known)
      return known.find((grant) => lasts(grant) && mayRun(grant) && isAllowed(grant) && covers(grant, facts))
    },

    /** Stores the end of all grants that have ended, so that they do not return if the clock is set back later. */
    async sweep (): Promise<void> {
      for await (const [, grant] of store.list<Grant>(GRANTS, { damaged () {} })) await keepEnds([grant])
    },

    /** Returns the path whose change suspended a grant that would cover the call; undefined if no such grant is suspended. */
    async restingFor (owner: Owner, facts: CallFacts): Promise<string | undefined> {
      return (await all(owner)).find((grant) => grant.suspended !== undefined && covers(grant, facts))?.suspended?.path
    },

    /**
     * Returns the operations that suspend grants of commands, of every owner, when a call that the grant `by` covers, or that needs no
     * approval, writes the paths or runs in a box.
     */
    async suspend (paths: readonly string[], by?: Grant): Promise<Op[]> {
      const ops: Op[] = []
      const box = by?.scope === 'sandbox' ? by.folder.path : undefined
      if (paths.length === 0 && box === undefined) return ops
      for await (const [, grant] of store.list<Grant>(GRANTS, { damaged () {} })) {
        // A command that is confined to a box gains no rights from a changed file.
        if (grant.suspended !== undefined || grant.isConfined || !isCommand(grant)) continue
        const path = box !== undefined && isSuspendedByBox(grant, box) ? box : suspendedBy(grant, paths, by)
        if (path === undefined) continue
        const suspended = { at: clock.now(), path }
        resting.set(grant.grantId, suspended)
        ops.push(put({ ...grant, suspended }))
      }
      while (resting.size > MOST_ENDED) resting.delete(resting.keys().next().value!)
      return ops
    },

    /**
     * Counts a use of the grant. `commit` gets the operation that records the use, and must store it together with the intent of the call
     * (the record that its tool is about to start). Returns false, without calling `commit`, if the grant was removed, used up or suspended
     * meanwhile.
     */
    use: (grant: Grant, commit: (op: Op) => Promise<void>): Promise<boolean> =>
      locked(grant.grantId, async () => {
        const now = await unlessDamaged(store.get<Grant>(keyOf(grant)))
        if (now === undefined || !lasts(now) || ended.has(grant.grantId) || resting.has(grant.grantId)) return false
        const used = { ...now, uses: now.uses + 1, lastUsedAt: clock.now() }
        await commit(put(used))
        const suspended = resting.get(grant.grantId)
        if (ended.has(grant.grantId)) await store.transact([{ type: 'del', key: keyOf(grant) }])
        else if (suspended !== undefined) await store.transact([put({ ...used, suspended })])
        return true
      }),

    /**
     * Returns the operations that store the grants that decided approvals chose, and the requests among `waiting` that these grants also
     * approve: requests that offer the same scope and that the new grant covers. The scope `once` makes no grant. Throws GrantRefused (400)
     * if a request did not offer the scope, TooManyGrants (409).
     */
    async fromAnswers<I extends ToolItem> (
      owner: Owner,
      approvals: readonly I[],
      waiting: () => Promise<readonly I[]>
    ): Promise<{ ops: Op[], released: I[] }> {
      const ops: Op[] = []
      const released: I[] = []
      const others = approvals.some(({ granted }) => granted !== undefined) ? await waiting() : []
      for (const approval of approvals) {
        const { scope = 'once', until } = approval.granted ?? {}
        if (approval.approved && approval.device === undefined && isCommand(approval)) ops.push(...await awaken(owner, approval))
        if (scope === 'once' && until === undefined) continue
        if (!approval.approved) throw new GrantRefused('"scope" and "until" belong to an approval, not to a denial.')
        if (scope === 'once') throw new GrantRefused('"until" belongs to a scope other than "once".')
        assertLasts(until)
        const facts = factsAsked(approval)
        assertOffered(approval.scopes ?? [], scope, facts)
        await assertRoom(owner)
        const { approvalId, decidedAt } = approval
        const grant = newGrant(owner, facts, { scope, source: 'answer', approvalId, until })
        const isTaken = (item: I) => [...approvals, ...released].some((each) => each.approvalId === item.approvalId)
        const also = others
          .filter((item) => !isTaken(item) && item.scopes?.some((offered) => offered.scope === scope) && covers(grant, factsAsked(item)))
          .slice(0, until?.uses)
        released.push(...also.map((item): I => ({ ...inState(item, 'approved'), approved: true, decidedAt, releasedBy: approvalId })))
        ops.push(put({ ...grant, uses: also.length }))
      }
      return { ops, released }
    },

    addAll,

    /**
     * Returns what the approved calls of a run teach its task, as grants that are new or wider than before, and the operations that store
     * them.
     */
    async learn (owner: Owner, approvals: readonly ToolItem[]): Promise<{ taught: Grant[], ops: Op[] }> {
      const known = await all(owner)
      const taught = new Map<string, Grant>()
      for (const approval of approvals) {
        const facts = factsAsked(approval)
        const { alike, lesson } = lessonFor(facts, approval, known)
        if (lesson === undefined) continue
        const before = alike.findIndex(({ scope }) => scope === lesson.scope)
        if (before === -1 && known.length >= MOST_GRANTS) continue
        const { meets, ...rest } = before === -1 ? newGrant(owner, facts, { ...lesson, source: 'approved_runs' }) : alike[before]
        const joined = lesson.meets && joinPlaces(meets, lesson.meets)
        const grant: Grant = { ...rest, ...(joined && { meets: joined, text: learnedText(lesson.scope, facts, joined) }) }
        if (before === -1) known.push(grant)
        else known[known.indexOf(alike[before])] = grant
        taught.set(grant.grantId, grant)
      }
      return { taught: [...taught.values()], ops: [...taught.values()].map(put) }
    },

    /** Describes what a call teaches its task once the call and its run are approved; empty if the task has learned that already. */
    async teaching (owner: Owner, facts: CallFacts, seen: Partial<Found>): Promise<string[]> {
      const { lesson } = lessonFor(facts, seen, await all(owner))
      return lesson === undefined ? [] : [lesson.text]
    },

    /** The files that tasks have made. */
    made: createMadeFiles(store),

    /** Lists the grants, of one owner or of all, one page at a time. */
    async list ({ limit, cursor, threadId, taskId }: { limit: number, cursor?: string, threadId?: string, taskId?: string }) {
      const prefix = taskId !== undefined ? prefixOf({ taskId }) : threadId !== undefined ? prefixOf({ threadId }) : GRANTS
      const { page: grants, ...more } = await takePage(store.list<Grant>(prefix, { after: cursor && GRANTS + cursor, damaged () {} }), {
        limit,
        pick: ([, grant]) => grantView(grant),
        cursorOf: ([key]) => key.slice(GRANTS.length)
      })
      return { grants, ...more }
    },

    /** Returns the grants of one owner in their public form. */
    views: async (owner: Owner): Promise<GrantView[]> => (await all(owner)).map(grantView),

    /** Removes a grant. Throws GrantNotFound (404). */
    async remove (grantId: string): Promise<{ ok: true, grantId: string }> {
      for await (const key of store.keys(GRANTS)) {
        if (!key.endsWith(`/${grantId}`)) continue
        await locked(grantId, async () => {
          const grant = await unlessDamaged(store.get<Grant>(key))
          await store.transact([{ type: 'del', key }, ...grant === undefined ? [] : decided.keptGrant(grant, 'withdrawn')])
        })
        return { ok: true, grantId }
      }
      throw new GrantNotFound(grantId)
    },

    /** Returns the operations that end all grants of a conversation or task. */
    async removals (owner: Owner): Promise<Op[]> {
      const ops: Op[] = []
      for await (const key of store.keys(prefixOf(owner))) {
        ops.push({ type: 'del', key })
        ended.add(key.slice(key.lastIndexOf('/') + 1))
      }
      while (ended.size > MOST_ENDED) ended.delete(ended.values().next().value!)
      return ops
    }
  }
}

/** Returns the public form of a grant. */
function grantView ({ digest, identity, folder: { path: cwd }, places, hosts, isConfined, meets, ...grant }: Grant): GrantView {
  return { ...grant, cwd, ...(places && { folder: places[0].folder }) }
}
