import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { isAboutModels, plainWords, splitDetail } from '../../console/lib/plain-words.ts'
import { createTask } from '../../client/generated/index.ts'
import texts from '../../console/texts/en.json' with { type: 'json' }
import { help } from '../../services/models/providers/offline/report.ts'
import { noBrowser } from '../harness/browser.ts'
import { cutOff, openConsole } from '../harness/console.ts'
import { englishOn, englishText, NO_TEXT, pseudoText, speakPseudo } from '../harness/pseudo.ts'
import { emptyViews, FURNISHED, furnish, show, type View } from './furnished.ts'

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
  const failed = 'The model a/b did not accept the request (messages.3: `tool_use` (id 1) has no result). Choose another model.'
  t.same(splitDetail(failed), {
    sentence: 'The model a/b did not accept the request. Choose another model.',
    detail: 'messages.3: `tool_use` (id 1) has no result'
  })
  t.same(splitDetail('The model a/b failed (503). Try again.'), { sentence: 'The model a/b failed (503). Try again.' })
})

t.test('no key of the texts stands twice: the later text would take the place of the first', async (t) => {
  const names = (value: unknown): string[] =>
    typeof value === 'string' ? [] : Object.entries(value as object).flatMap(([name, inner]) => [name, ...names(inner)])
  const written = [...readFileSync('console/texts/en.json', 'utf8').matchAll(/"([\w-]+)":/g)].map(([, name]) => name)
  t.same(written, names(texts))
})

t.test('every text and every style is used: what nothing names is left over', async (t) => {
  const files = readdirSync('console', { recursive: true, encoding: 'utf8' }).filter((name) => !name.includes('node_modules'))
  const read = (pattern: RegExp) =>
    files.filter((name) => pattern.test(name)).map((name) => readFileSync(`console/${name}`, 'utf8')).join('\n')
  const code = read(/\.tsx?$|\.html$|tool-facts\.json$/)
  const isPlural = (value: object) => 'other' in value && Object.keys(value).every((name) => ['one', 'other'].includes(name))
  const keysOf = (value: object, before = ''): string[] => Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === 'string' || isPlural(inner) ? [`${before}${name}`] : keysOf(inner, `${before}${name}.`))
  // A key that is put together has its beginning in the code.
  const begun = [...code.matchAll(/['`]([a-z][\w.]*[._])\$\{/g)].map(([, beginning]) => beginning)
  const isNamed = (key: string) => code.includes(`'${key}'`) || begun.some((beginning) => key.startsWith(beginning))
  t.same(keysOf(texts).filter((key) => !key.startsWith('status.') && !isNamed(key)), [])
  // Classes of code come from its highlighter, those of buttons, states and notes from their kinds.
  const MADE = /^(?:code|status|note|button|verdict)-|^contains-task-list$|^lucide/
  const styles = read(/\.css$/).replace(/\/\*[^]*?\*\//g, '').replace(/\{[^{}]*;[^{}]*\}/g, '')
  const classes = new Set([...styles.matchAll(/\.([a-z][a-z-]+)/g)].map(([, name]) => name))
  t.same([...classes].filter((name) => !MADE.test(name) && !new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(code)), [])
})

t.test('numbers, dates and durations are written as the browser does: the console names a language for plurals alone', async (t) => {
  const files = readdirSync('console', { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
  t.ok(files.length > 100)
  const FIXED = /Intl\.\w+\(['"`]\w+|toLocale\w*\(['"`]\w+|\.toFixed\(/g
  const fixed = files.flatMap((name) => readFileSync(`console/${name}`, 'utf8').match(FIXED) ?? [])
  t.same(fixed, ["Intl.PluralRules('en"])
})

t.test('the console in a language that nobody speaks', { skip: noBrowser }, async (t) => {
  const viewport = { width: 1280, height: 2_000 }
  const console = await openConsole(t, FURNISHED)
  let views: View[] = []
  await console.visit('every text is one of the file of texts', async (t, page) => {
    const missing = await speakPseudo(page)
    await page.addInitScript("localStorage.setItem('welcome-seen', '1')")
    const look = async (view: View) => {
      await show(page, view, pseudoText)
      t.same(await englishOn(page, NO_TEXT), [], view.name)
      // Its texts are longer, too. Other widths are in the long test.
      await page.setViewportSize({ width: 360, height: 740 })
      t.same(await cutOff(page), [], `${view.name}: nothing is cut off`)
      await page.setViewportSize(viewport)
      if (view.name === 'a task that ran, opened') await page.getByText('1.234.567').waitFor()
    }
    for (const view of emptyViews) if (['', 'tasks', 'chat', 'memory', 'nowhere', 'settings/usage'].includes(view.path)) await look(view)
    // The others, most of them questions before something is done, are looked at in test/faults/console-views.long.ts.
    views = await furnish(console)
    for (const view of views) if (!view.isSeldom) await look(view)
    t.same(missing(), [], 'all texts were found in the console')
  }, { locale: 'el-GR', viewport, expected: /status of 4\d\d/ })

  await console.visit('dates, numbers, times and shares are written as a German browser writes them', async (t, page) => {
    const textOn = async (name: string) => {
      await show(page, views.find((view) => view.name === name)!, englishText)
      return (await page.locator('main').innerText()).replace(/\u00A0/g, ' ')
    }
    const { data: { id } } = await createTask({
      client: console.agent.client,
      throwOnError: true,
      body: { goal: 'γράψε', plan: { phases: [{ description: 'γράψε' }] }, options: { budget: { usd: 1_234.5 } } }
    })
    await page.goto(`/console/tasks/${id}`)
    await page.getByText('Folder, model and limits').click()
    await page.getByText('1.234,5 US dollars').waitFor()
    const task = await textOn('a task that ran, opened')
    t.match(task, '1.234.567 tokens, 20 minutes')
    t.match(task, 'Every day at 07:30')
    // Less than six hours before it, the page counts them.
    t.match(task, /Next run (?:(?:heute|morgen), 07:30|in \S+ (?:Stunde|Minute)n?|just now)/)
    t.match(await page.locator('time').first().getAttribute('title'), /^\p{L}+tag|^Mittwoch/u)
    t.match(await textOn('a run, opened'), 'rated 60 %')
    const usage = await textOn('the usage, opened')
    t.match(usage, /from \d{1,2}\.\d{1,2}\.\d{4} to \d{1,2}\.\d{1,2}\.\d{4},/)
    t.match(usage, /0,0\d+ \$/)
    t.notMatch(`${task} ${usage}`, /\b[AP]M\b|\$\d|\d\/\d/)
  }, { locale: 'de-DE', viewport })
})
