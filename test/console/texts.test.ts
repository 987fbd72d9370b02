import t from 'tap'
import { putThread } from '../../client/generated/index.ts'
import { isAboutModels, plainWords } from '../../console/lib/plain-words.ts'
import texts from '../../console/texts/en.json' with { type: 'json' }
import { help } from '../../services/models/providers/offline/report.ts'
import { noBrowser } from '../harness/browser.ts'
import { openConsole } from '../harness/console.ts'
import { englishOn, speakPseudo } from '../harness/pseudo.ts'

const allTexts = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(value as object).flatMap(allTexts)

const ROUTE = /\b(?:GET|POST|PUT|PATCH|DELETE)\b|(?:^|\s)\/[a-z]+\b/

t.test('no text for people holds a route', async (t) => {
  t.same(allTexts(texts).filter((text) => ROUTE.test(text)), [])
  t.notMatch(help([]), ROUTE)
  const refused = 'The key of the model is not valid. Set another with POST /providers/configure {"keys": {"a": "b"}}. Or wait.'
  t.equal(plainWords(refused), 'The key of the model is not valid. Or wait.')
  t.ok(isAboutModels(refused))
  t.ok(isAboutModels('The model was refused: the key is not valid. Set another in the settings.'))
  t.equal(plainWords('The folder (cwd) "/a" is not a folder that can be opened.'), 'The folder "/a" is not a folder that can be opened.')
  t.equal(plainWords('There is no file /work/GET.'), 'There is no file /work/GET.')
  t.equal(plainWords('GET /tasks lists them.'), '')
})

/** Names of models, keys and paths, versions, and examples of what one writes. */
const NO_TEXT = /(?:offline|assistant|scripted|config|json|work|Ctrl|\d[\w.+]*|[\w.-]*\/[\w./-]+|test)/g
const SECTIONS = ['models', 'servers', 'agents', 'grants', 'usage', 'general', 'health']

t.test('the console in a language that nobody speaks', { skip: noBrowser }, async (t) => {
  const { agent, visit } = await openConsole(t)
  await putThread({ client: agent.client, throwOnError: true, path: { id: 'σήμερα' }, body: { title: 'σήμερα' } })

  await visit('every text is one of the file of texts, and dates and numbers are those of the browser', async (t, page) => {
    const missing = await speakPseudo(page)
    await page.addInitScript("localStorage.setItem('welcome-seen', '1')")
    for (const path of ['', 'tasks', 'tasks/new', 'chat', 'memory', 'nowhere', ...SECTIONS.map((section) => `settings/${section}`)]) {
      await page.goto(`/console/${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      while (await page.locator('.loading').count() > 0) await page.locator('.loading').first().waitFor({ state: 'detached' })
      t.same(await englishOn(page, NO_TEXT), [], path)
    }
    await page.keyboard.press('Control+k')
    await page.getByRole('option').first().waitFor()
    t.same(await englishOn(page, NO_TEXT), [], 'the palette')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    t.same(await englishOn(page, NO_TEXT), [], 'the keys')
    t.same(missing(), [], 'all texts were found in the console')
  }, { locale: 'el-GR' })
})
