import t from 'tap'
import { isAboutModels, plainWords } from '../../console/lib/plain-words.ts'
import texts from '../../console/texts/en.json' with { type: 'json' }
import { help } from '../../services/models/providers/offline/report.ts'

const allTexts = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(value as object).flatMap(allTexts)

const ROUTE = /\b(?:GET|POST|PUT|PATCH|DELETE)\b|(?:^|\s)\/[a-z]+\b/

t.test('no text for people holds a route', async (t) => {
  t.same(allTexts(texts).filter((text) => ROUTE.test(text)), [])
  t.notMatch(help([]), ROUTE)
  const refused = 'The key of the model is not valid. Set another with POST /providers/configure {"keys": {"a": "b"}}. Or wait.'
  t.equal(plainWords(refused), 'The key of the model is not valid. Or wait.')
  t.ok(isAboutModels(refused))
  t.equal(plainWords('There is no file /work/GET.'), 'There is no file /work/GET.')
  t.equal(plainWords('GET /tasks lists them.'), '')
})
