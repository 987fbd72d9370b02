import t from 'tap'
import { projectFiles, textOf } from '../harness/source-tree.ts'

const KEYS = 'services/store/keys.ts'
const prefixes = [...textOf(KEYS).matchAll(/['`]([a-z-]+)\/|historyKey\('([a-z-]+)'/g)].map(([, prefix, history]) => prefix ?? history)

/** What a text does that only `services/store/keys.ts` may do: text that begins with the prefix of a key, and key builders. */
function ownKeys (text: string): string[] {
  const code = text.replaceAll(/\/\*.*?\*\/|\/\/.*/gs, (comment) => comment.startsWith('//') ? '' : ' ')
  const found = code.matchAll(new RegExp(`['"\`](?:${prefixes.join('|')})/|\\bhistoryKey\\(|\\.record(?:<.*>)?\\('`, 'g'))
  return [...found].map(([each]) => each)
}

t.test('only one file builds keys of the store', async (t) => {
  t.ok(['run', 'thread-run', 'approval', 'thread', 'message', 'turn', 'face', 'task', 'task-run', 'run-event', 'task-past', 'idempotency']
    .every((prefix) => prefixes.includes(prefix)))
  const files = projectFiles().filter((path) => /^(?:app|(?:services|plugins|routes|workers)\/.*)\.ts$/.test(path) && path !== KEYS)
  t.same(files.flatMap((path) => ownKeys(textOf(path)).map((key) => `${path}: ${key}`)), [])

  const wrong = "/* 'run/' */ get(`run/` + id); list('task-run/'); historyKey('turn', id, 1); store.record<{ a: 1 }>('brain', empty)"
  t.equal(ownKeys(wrong).length, 4, 'wrong ones would be found')
})

t.test('the docs list the keys with every prefix', async (t) => {
  const table = textOf('docs/architecture.md')
  t.same(prefixes.filter((prefix) => !table.includes(`\`${prefix}/`)), [])
})
