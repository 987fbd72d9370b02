import t from 'tap'
import { emptyViews, FURNISHED, furnish, show, type View } from '../console/furnished.ts'
import { noBrowser } from '../harness/browser.ts'
import { axe, cutOff, openConsole } from '../harness/console.ts'
import { englishOn, englishText, NO_TEXT, pseudoText, speakPseudo } from '../harness/pseudo.ts'

const SIZES = [{ width: 1440, height: 900 }, { width: 820, height: 1_180 }, { width: 360, height: 740 }]
const expected = /status of 4\d\d/
const seen = "localStorage.setItem('welcome-seen', '1')"

t.test('every page and dialog, empty and full', { skip: noBrowser }, async (t) => {
  const console = await openConsole(t, FURNISHED)
  const check = async (views: View[], isWelcomed = false) => {
    for (const viewport of SIZES) {
      await console.visit(`axe finds nothing, light and dark, and nothing is cut off, ${viewport.width} px`, async (t, page) => {
        if (!isWelcomed) await page.addInitScript(seen)
        for (const view of views) {
          await show(page, view, englishText)
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
            t.same(await axe(page), [], `${view.name}: ${colorScheme}`)
          }
          t.same(await cutOff(page), [], `${view.name}: nothing is cut off`)
          const { SHOTS } = process.env
          if (SHOTS) await page.screenshot({ path: `${SHOTS}/${view.name.replace(/\W+/g, '-')}-${viewport.width}.png` })
        }
      }, { viewport, expected })
    }
  }
  await check([{ name: 'the welcome', path: '' }], true)
  await check(emptyViews)
  const views = await furnish(console)
  await check(views)
  for (const viewport of SIZES) {
    await console.visit(`every text is one of the file, and has room where it is longer, ${viewport.width} px`, async (t, page) => {
      await speakPseudo(page)
      await page.addInitScript(seen)
      for (const view of views) {
        await show(page, view, pseudoText)
        t.same(await englishOn(page, NO_TEXT), [], view.name)
        t.same(await cutOff(page), [], `${view.name}: nothing is cut off`)
      }
    }, { locale: 'el-GR', viewport, expected })
  }
})
