import t from 'tap'
import fc from 'fast-check'
import { toModelOutput, forModel } from '../../../services/tools/model-output.ts'

/** A whole picture. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image = (data = PIXEL, mimeType = 'image/png') => ({ type: 'image', mimeType, data })
const file = (data: string, mediaType = 'image/png') => ({ type: 'file', mediaType, data: { type: 'data', data } })

t.test('an output without images is JSON', async (t) => {
  const output = { content: [{ type: 'text', text: 'x' }], rows: { n: 1 } }
  t.strictSame(toModelOutput(output), { type: 'json', value: output })
  t.strictSame(toModelOutput({ content: 'not a list' }), { type: 'json', value: { content: 'not a list' } })
})

t.test('images are shown as images, whole and in their order, beside all the rest', async (t) => {
  const large = `/9j/${'A'.repeat(2_000_000)}/9k=`
  const shown = toModelOutput({ width: 3, content: [image(), { type: 'text', text: 'and' }, image(large, 'image/jpeg')] })
  t.strictSame(shown, {
    type: 'content',
    value: [
      { type: 'text', text: '{"width":3,"content":["[image 1: image/png]",{"type":"text","text":"and"},"[image 2: image/jpeg]"]}' },
      file(PIXEL),
      file(large, 'image/jpeg')
    ]
  })
})

t.test('text beside an image is shortened as ever', async (t) => {
  const shown = toModelOutput({ content: [{ type: 'text', text: 'x'.repeat(500_000) }, image()] }) as any
  t.ok(shown.value[0].text.length <= 64 * 1024)
  t.match(shown.value[0].text, /characters left out/)
  t.equal(shown.value.length, 2)
})

t.test('what no model takes is named and not shown, and a picture is what it is, whatever it is called', async (t) => {
  for (const mimeType of ['image/svg+xml', 'image/tiff', 'image/png']) {
    t.match(
      (toModelOutput({ content: [image('PHN2ZyB4bWxucz0i', mimeType)] }) as any).value.content[0],
      `[image: ${mimeType}, 16 characters of base64, not shown`
    )
  }
  const webp = Buffer.from('RIFF\u0008\0\0\0WEBPVP8 ').toString('base64')
  const gif = Buffer.from('GIF89a\u0001\0\u0001\0\0\0\0;').toString('base64')
  const shown = toModelOutput({
    content: [image(webp, 'image/svg+xml'), image(gif, 'image/x'), image('PHN2ZyB4bWxucz0i')]
  }) as any
  t.strictSame(shown.value.slice(1), [file(webp, 'image/webp'), file(gif, 'image/gif')])
})

t.test('what only says that it is an image, sounds and files are no images', async (t) => {
  for (const block of [image('<svg>'), image('', 'image/png'), image('AAAA', 'text/html'), { type: 'image', data: 5 }, null, 'image']) {
    t.strictSame(toModelOutput({ content: [block] }), { type: 'json', value: { content: [block] } })
  }
  t.match(
    toModelOutput({
      content: [{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }, { type: 'resource', resource: { uri: 'x:y', blob: 'AAAAA' } }]
    }),
    {
      type: 'json',
      value: {
        content: ['[audio: audio/wav, 4 characters of base64]', {
          type: 'resource',
          resource: { uri: 'x:y', blob: '[5 characters of base64]' }
        }]
      }
    }
  )
})

const text = (words: string, audience?: string[]) => ({ type: 'text', text: words, ...audience && { annotations: { audience } } })

/** What a model gets of the output, apart from its images. */
const seen = (output: object): any => {
  const shown = toModelOutput(output as any) as any
  return shown.type === 'json' ? shown.value : JSON.parse(shown.value[0].text)
}

t.test('what a result says twice is sent once: its structure, or its blocks where the structure only wraps them', async (t) => {
  const rows = { rows: [1, 2], note: 'all' }
  t.strictSame(seen({ content: [text(JSON.stringify(rows))], structuredContent: rows }), { structuredContent: rows })
  t.strictSame(seen({ content: [text('two rows')], structuredContent: rows }), { structuredContent: rows })
  t.strictSame(seen({ content: [text('a\nb')], structuredContent: { content: 'a\nb' } }), { content: [text('a\nb')] })
  t.strictSame(seen({ content: [text('a'), text('b')], structuredContent: { result: 'a\nb' } }), { content: [text('a'), text('b')] })
  const link = { type: 'resource_link', uri: 'demo://1', name: 'one' }
  t.strictSame(seen({ content: [text('see'), link], structuredContent: rows }), { structuredContent: rows, content: [link] })

  const picture = toModelOutput({ content: [image()], structuredContent: { content: [image()] } }) as any
  t.strictSame(picture.value, [{ type: 'text', text: '{"content":["[image 1: image/png]"]}' }, file(PIXEL)])
  const beside = toModelOutput({ content: [image()], structuredContent: { n: 1, raw: image().data, again: image() } }) as any
  t.strictSame(JSON.parse(beside.value[0].text), {
    structuredContent: { n: 1, raw: '[see content]', again: { type: 'image', mimeType: 'image/png', data: '[see content]' } },
    content: ['[image 1: image/png]']
  })
  t.equal(beside.value.length, 2, 'one picture')
})

t.test('an embedded file that is a picture is shown as one', async (t) => {
  const shown = toModelOutput({
    content: [{ type: 'resource', resource: { uri: 'x:y', mimeType: 'image/png', blob: PIXEL } }]
  }) as any
  t.strictSame(JSON.parse(shown.value[0].text).content[0].resource, { uri: 'x:y', mimeType: 'image/png', blob: '[image 1: image/png]' })
  t.strictSame(shown.value[1], file(PIXEL))
})

t.test('what a server addresses to the user alone does not reach the model, wherever the result repeats it', async (t) => {
  const picture = { ...image(), annotations: { audience: ['user'] } }
  const content = [text('for all'), text('for you', ['user']), picture, text('both', ['user', 'assistant'])]
  t.strictSame(seen({ content }), { content: [text('for all'), '[shown to the user only]', text('both')] })
  t.strictSame(seen({ content, structuredContent: { said: ['for you', 'x'], bytes: image().data } }), {
    structuredContent: { said: ['[shown to the user only]', 'x'], bytes: '[shown to the user only]' },
    content: ['[shown to the user only]']
  })
  t.strictSame(seen({ content: [text('for you', ['user'])], structuredContent: { result: 'for you' } }), {
    content: ['[shown to the user only]']
  })
  t.strictSame(seen({ content: [{ ...text('x'), _meta: { ui: 1 } }, text('y', ['assistant'])] }), { content: [text('x'), text('y')] })
})

t.test('what is shown of an output is made once', async (t) => {
  const output = { rows: Array.from({ length: 10_000 }, (_, n) => `row ${n}`) }
  t.equal(toModelOutput(output), toModelOutput(output))
  t.not(toModelOutput({ ...output }), toModelOutput(output))
})

const LIMIT = 64 * 1024
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

t.test('an output that fits is shown as it is', async (t) => {
  const output = { text: 'a'.repeat(60_000), list: [1, { a: null }] }
  t.equal(forModel(output), output)
})

t.test('a long text keeps its head and its tail and uses the room there is', async (t) => {
  const output = { path: 'x', content: `HEAD${'m'.repeat(500_000)}TAIL`, short: 'whole' }
  const shown = forModel(output) as typeof output
  t.ok(shown.content.startsWith('HEADm') && shown.content.endsWith('mTAIL'))
  t.match(shown.content, /\n\[… \d+ characters left out …\]\n/)
  t.match(shown, { path: 'x', short: 'whole' })
  t.ok(bytes(shown) <= LIMIT && bytes(shown) > LIMIT - 200)
  t.equal(output.content.length, 500_008, 'the output itself is left alone')
  const kept = shown.content.replace(/\n\[… \d+ characters left out …\]\n/, '')
  t.equal(Number(shown.content.match(/… (\d+) /)![1]) + kept.length, output.content.length)
})

t.test('a long list is cut at its end and says so', async (t) => {
  const shown = forModel({ entries: Array.from({ length: 20_000 }, (_, index) => ({ name: `file-${index}`, size: index })) })
  const entries = shown.entries as unknown[]
  t.match(entries[0], { name: 'file-0' })
  t.match(entries.at(-1), /\[… \d+ more left out …\]/)
  t.ok(bytes(shown) <= LIMIT && bytes(shown) > LIMIT / 2)
})

t.test('whatever the output, what is shown fits, is JSON and breaks no character', async (t) => {
  const text = fc.tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 20_000 })).map((
    [unit, count]
  ) => unit.repeat(count))
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.constant('\u0000"\\'.repeat(9000)),
      fc.integer(),
      fc.array(tie('any')),
      fc.dictionary(fc.string(), tie('any'))
    )
  })).any
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), value), (output) => {
      const shown = forModel(output)
      const json = JSON.stringify(shown)
      return Buffer.byteLength(json) <= LIMIT && !/\\ud[89a-f]/.test(json) && typeof JSON.parse(json) === 'object'
    }),
    { numRuns: 40, seed: 7, endOnFailure: true }
  )
  t.pass()
})

t.test('wide and deep outputs fit as well', async (t) => {
  const wide = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`key-${index}`, index]))
  let deep: Record<string, unknown> = { end: 'x'.repeat(100_000) }
  for (let level = 0; level < 3000; level++) deep = { 'deeper and deeper still': deep, x: level }
  for (const output of [wide, deep, { ['k'.repeat(200_000)]: 1 }, { a: [[[wide]], wide] }]) t.ok(bytes(forModel(output)) <= LIMIT)
})
