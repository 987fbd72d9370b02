import fc from 'fast-check'
import t from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import { createThreadRepository, type ThreadMessage } from '../../../services/threads/thread-repository.ts'
import { testStore } from '../../harness/store.ts'

/** A message of the user with its answer, in a tree of all that was ever said. */
interface Node {
  id: string
  text: string
  answer: string
  children: Node[]
  /** When it was replaced, and what the conversation had from it on. */
  replacedAt: number
  rest: Node[]
}

type Step =
  | { do: 'say' }
  | { do: 'edit' | 'repeat' | 'cut', at: number }
  | { do: 'go back', at: number }

const at = fc.nat({ max: 9 })
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<Step>({ do: 'say' }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('edit' as const, 'repeat' as const), at }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('go back' as const), at }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('cut' as const), at }) }
  ),
  { minLength: 12, maxLength: 20 }
)

/** A put removes what follows a version that stays, and then the thread goes back to that version. */
const PUT_BEFORE_A_VERSION: Step[] =
  [{ do: 'say' }, { do: 'say' }, { do: 'edit', at: 1 }, { do: 'say' }, { do: 'cut', at: 2 }, { do: 'go back', at: 0 }, { do: 'say' }]

const FILE = { type: 'file', data: `attachment:${'a'.repeat(32)}`, mediaType: 'text/plain' }
const user = (id: string, text: string): ThreadMessage => ({ role: 'user', id, content: [{ type: 'text', text }, FILE] })
const assistant = (content: string): ThreadMessage => ({ role: 'assistant', content })
const messagesOf = (nodes: readonly Node[]): ThreadMessage[] =>
  nodes.flatMap(({ id, text, answer }) => [user(id, text), assistant(answer)])
const sizeOf = (nodes: readonly Node[]): number => nodes.reduce((sum, { children }) => sum + 1 + sizeOf(children), 0)

t.test('whatever is edited, repeated, restored and put, a thread has its path, its versions, and nothing else', async (t) => {
  const store = await testStore(t)
  const threads = createThreadRepository({ store, clock: systemClock, readAnswer: async () => assistant('') })
  let thread = 0
  await fc.assert(fc.asyncProperty(steps, async (list) => {
    const id = `chat ${++thread}`
    const root: Node[] = []
    let path: Node[] = []
    let n = 0
    const siblings = (index: number) => index === 0 ? root : path[index - 1].children
    const others = (node: Node, index: number) => siblings(index).filter((each) => each !== node).map((each) => ({ index, node: each }))
    const versions = () => path.flatMap(others).toSorted((a, b) => a.node.replacedAt - b.node.replacedAt)
    const replace = (index: number) => {
      if (index < path.length) Object.assign(path[index], { rest: path.slice(index), replacedAt: ++n })
    }
    /** Sends the conversation up to a turn, and a message behind it. */
    async function say (index: number, text: string, messageId: string) {
      const messages = [...messagesOf(path.slice(0, index)), user(messageId, text)]
      const { ops, answerAt } = await threads.appendRequest(id, await threads.place(id, { messages }))
      await store.transact(ops)
      replace(index)
      const node: Node = { id: messageId, text, answer: `answer ${++n}`, children: [], replacedAt: 0, rest: [] }
      siblings(index).push(node)
      path = [...path.slice(0, index), node]
      await store.transact(await threads.appendAnswer(id, answerAt, [assistant(node.answer)]))
    }
    async function take (step: Step) {
      if (step.do === 'say' || path.length === 0) return say(path.length, `text ${++n}`, `m${n}`)
      const index = step.at % path.length
      // A single message replaces the first one if it has its id.
      if (step.do === 'edit') return say(index, `text ${++n}`, index === 0 ? path[0].id : `m${n}`)
      if (step.do === 'repeat') return say(index, path[index].text, path[index].id)
      if (step.do === 'cut') {
        await store.transact(await threads.replace(id, messagesOf(path.slice(0, index))))
        siblings(index).splice(0)
        path = path.slice(0, index)
        return
      }
      const known = versions()
      if (known.length === 0) return
      const place = step.at % known.length
      const head = (await threads.get(id))!
      await store.transact(await threads.goBack(head, (await threads.versions(head))[place]))
      const { index: from, node } = known[place]
      replace(from)
      path = [...path.slice(0, from), ...node.rest]
    }

    for (const step of list) {
      await take(step)
      const head = (await threads.get(id))!
      const expected = messagesOf(path)
      t.strictSame(await threads.messages(id), expected)
      const shown = await threads.versions(head)
      t.strictSame(
        await Promise.all(shown.map(async (version) => [version.at, version.text, await threads.versionMessages(id, version)])),
        versions().map(({ index, node }) => [2 * index, node.text, messagesOf(node.rest)])
      )
      const { messageCount, turns, lastMessage, words } = head
      t.strictSame(
        { messageCount, turns, lastMessage, words },
        { messageCount: expected.length, turns: path.length, lastMessage: path.at(-1)?.answer ?? '', words: path[0]?.text ?? '' }
      )
      t.strictSame((await threads.turns(id)).map(({ at }) => at), path.map((_, index) => 2 * index))
      t.strictSame((await threads.lastMessages(id, { end: messageCount, limit: 3 })).messages, expected.slice(-3))
      const counts = await Promise.all(['message/', 'turn/', 'attachment-of/'].map(async (prefix) => {
        let count = 0
        for await (const key of store.keys(`${prefix}${store.digest(id)}/`)) if (key !== '') count++
        return count
      }))
      t.strictSame(counts, [2 * sizeOf(root), sizeOf(root), sizeOf(root)], 'nothing is left of what was removed')
    }
    await store.transact(await threads.remove((await threads.get(id))!))
    for await (const key of store.keys('')) t.notMatch(key, new RegExp(`^(message|turn|version|attachment-of)/${store.digest(id)}`))
  }), { numRuns: 6, examples: [[PUT_BEFORE_A_VERSION]] })
})

t.test('a version is whole whatever its size; older ones go when all are too large', async (t) => {
  const store = await testStore(t)
  const threads = createThreadRepository({ store, clock: systemClock, readAnswer: async () => assistant('') })
  const large = (name: string) => ({ role: 'user', id: 'm1', content: name.repeat(5 * 1024 * 1024) })
  for (const name of ['a', 'b', 'c', 'd']) {
    const { ops, answerAt } = await threads.appendRequest('chat', await threads.place('chat', { messages: [large(name)] }))
    await store.transact(ops)
    await store.transact(await threads.appendAnswer('chat', answerAt, [assistant(`answer to ${name}`)]))
  }
  const kept = await threads.versions((await threads.get('chat'))!)
  t.same(kept.map(({ text }) => text[0]), ['b', 'c'])
  await store.transact(await threads.goBack((await threads.get('chat'))!, kept[0]))
  t.ok(JSON.stringify(await threads.messages('chat')) === JSON.stringify([large('b'), assistant('answer to b')]))
  t.same((await threads.versions((await threads.get('chat'))!)).map(({ text }) => text[0]), ['c', 'd'])
})
