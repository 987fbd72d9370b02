import { deflateSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { makeOffice } from '../harness/attached-files.ts'
import { noBrowser } from '../harness/browser.ts'
import { axe, message, openConsole, say } from '../harness/console.ts'

/** A PNG of one colour. */
function makePicture (side: number): Buffer {
  const chunk = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name), data])
    const bytes = Buffer.alloc(body.length + 8)
    bytes.writeUInt32BE(data.length)
    body.copy(bytes, 4)
    bytes.writeUInt32BE(crc(body), body.length + 4)
    return bytes
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(side, 0)
  head.writeUInt32BE(side, 4)
  head.set([8, 2], 8)
  const rows = Buffer.alloc(side * (side * 3 + 1), 0x60)
  for (let y = 0; y < side; y++) rows[y * (side * 3 + 1)] = 0
  const chunks = [chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks])
}

function crc (bytes: Buffer): number {
  let sum = ~0
  for (const byte of bytes) {
    sum ^= byte
    for (let n = 0; n < 8; n++) sum = (sum >>> 1) ^ (0xedb88320 & -(sum & 1))
  }
  return ~sum >>> 0
}

const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

/** Gives the page files as a paste or a drop does. */
const give = (page: Page, how: 'paste' | 'drop', name: string, text: string) =>
  message(page).evaluate((field: any, { how, name, text }) => {
    const { DataTransfer, DragEvent, ClipboardEvent, File } = globalThis as any
    const data = new DataTransfer()
    data.items.add(new File([text], name, { type: 'text/plain' }))
    const init = { bubbles: true, cancelable: true }
    field.dispatchEvent(
      how === 'drop'
        ? new DragEvent('drop', { ...init, dataTransfer: data })
        : new ClipboardEvent('paste', { ...init, clipboardData: data })
    )
  }, { how, name, text })

const offer = makeOffice.docx('Heron, 12 euros')

t.test('files in the chat', { skip: noBrowser }, async (t) => {
  const console = await openConsole(t, { reply: () => ({ text: 'Seen.' }), config: { model: 'test/model' } })

  await console.visit('are attached by button, paste and drop, removed, sent, shown and downloaded', async (t, page) => {
    await page.goto('/console/chat')
    await page.getByLabel('Attach files').first().setInputFiles([
      { name: 'photo.png', mimeType: 'image/png', buffer: makePicture(900) },
      { name: 'offer.docx', mimeType: docx, buffer: offer }
    ])
    await give(page, 'paste', 'pasted.txt', 'from the clipboard')
    await give(page, 'drop', 'dropped.txt', 'from the desktop')
    const attached = page.getByRole('list', { name: 'Attached files' })
    for (const name of ['photo.png', 'offer.docx', 'pasted.txt', 'dropped.txt']) await attached.getByText(name).waitFor()
    const small = attached.getByRole('listitem').filter({ hasText: 'photo.png' }).locator('img')
    await small.waitFor()
    while (await small.evaluate((img: any) => img.naturalWidth) === 0) continue
    while (await attached.getByRole('progressbar').count() > 0) continue
    await attached.getByRole('button', { name: 'Remove pasted.txt' }).click()
    await page.reload()
    for (const name of ['photo.png', 'offer.docx', 'dropped.txt']) await attached.getByText(name).waitFor()
    t.equal(await attached.getByText('pasted.txt').count(), 0)
    t.same(await axe(page), [])

    await say(page, 'what are these?')
    await page.getByText('Seen.').waitFor()
    t.equal(await attached.count(), 0)
    const sent = JSON.stringify(console.gateway!.requests.at(-1)!.body.prompt.at(-1))
    t.match(sent, /image\/png/)
    t.match(sent, /Heron, 12 euros/)
    t.match(sent, /from the desktop/)
    t.notMatch(sent, /clipboard/)

    await page.reload()
    const picture = page.getByRole('img', { name: 'File: photo.png' })
    await picture.waitFor()
    t.equal(await picture.evaluate((img: any) => img.naturalWidth), 480, 'a small one')
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download offer.docx' }).click()
    t.same(readFileSync(await (await saved).path()), offer)
    if (process.env.SHOT) await page.screenshot({ path: process.env.SHOT })
    t.same(await axe(page), [])
  })

  await console.visit('that the model does not take say why, and stay to be sent otherwise', async (t, page) => {
    await page.goto('/console/chat')
    await give(page, 'drop', 'notes.txt', '')
    await page.getByRole('alert').getByText('notes.txt was not attached: The file is empty.').waitFor()
    await page.getByRole('button', { name: 'Remove notes.txt' }).click()
    const zip = { name: 'a.zip', mimeType: 'application/zip', buffer: Buffer.from('PK\x03\x04zip') }
    await page.getByLabel('Attach files').first().setInputFiles(zip)
    await page.getByRole('list', { name: 'Attached files' }).getByText('a.zip').waitFor()
    await say(page, 'unpack it')
    await page.getByText(/takes no files of the type application\/zip/).waitFor()
    await page.getByText('This message was not taken').waitFor()
    await page.getByRole('list', { name: 'Attached files' }).getByText('a.zip').waitFor()
    t.equal(await message(page).inputValue(), 'unpack it')
  }, { expected: /status of 40[04]/ })
})
