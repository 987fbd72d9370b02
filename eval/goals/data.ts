import { makePdf } from '../../test/harness/pdf.ts'
import { amount, answers, answersThat, askedNothing, nothingElse, objectIs } from '../checks.ts'
import type { Goal } from '../goal.ts'

const REGIONS = ['North', 'South', 'West']
/** The amounts of 90 sales, in cents. Some are returns, and some are above a thousand. */
const SALES = Array.from({ length: 90 }, (_, at) => ({
  region: REGIONS[(at * 7 + Math.floor(at / 4)) % 3],
  cents: at % 17 === 5 ? -(1_999 + at * 13) : (at * 7_919) % 61_003 + 5_001 + (at % 29 === 0 ? 120_000 : 0)
}))
/** Returns an amount as office programs write it: in quotes, with a comma between thousands. */
const written = (cents: number) => {
  const text = (cents / 100).toLocaleString('en-US', { minimumFractionDigits: 2 })
  return text.includes(',') ? `"${text}"` : text
}
const SALES_CSV = ['date,region,amount', ...SALES.map(({ region, cents }, at) =>
  `2026-0${1 + Math.floor(at / 30)}-${String(1 + at % 28).padStart(2, '0')},${region},${written(cents)}`), ''].join('\n')
const totalOf = (region?: string) =>
  SALES.filter((sale) => region === undefined || sale.region === region).reduce((sum, { cents }) => sum + cents, 0) / 100
export const SALES_TOTALS = { ...Object.fromEntries(REGIONS.map((region) => [region, totalOf(region)])), all: totalOf() }

/**
 * The log of an order service for one night. Its database refuses connections after a change of settings, long before errors become
 * frequent.
 */
const LOG = Array.from({ length: 4_000 }, (_, at) => {
  const time = new Date(Date.UTC(2026, 4, 12, 1) + at * 2_000).toISOString().slice(0, 19)
  if (at === 2_310) return `${time} INFO  config reloaded by deploy 7c41e: pool.size 40 -> 4, cache.ttl 60 -> 90`
  if (at === 900) return `${time} ERROR mail: template welcome_old is missing, order 3113 has no mail`
  if (at === 1_200) return `${time} INFO  deploy 5b90a: new texts`
  if (at > 2_330 && at % 9 === 0) return `${time} ERROR orders: no free connection within 2000 ms, order ${3_000 + at} failed`
  if (at > 2_600 && at % 50 === 0) return `${time} ERROR payments: socket hang up`
  if (at % 40 === 0) return `${time} WARN  slow query 812 ms`
  return `${time} INFO  order ${3_000 + at} placed`
}).join('\n')

const TICKETS = 59_640
const TICKETS_TXT = Array.from({ length: TICKETS }, (_, at) =>
  `ticket ${at + 1}: ${at + 1 === 48_213 ? 'the marzipan machine in hall 4 squeaks' : `pump ${at % 97} in hall ${at % 7} was checked`}`
).join('\n') + '\n'

const INVOICE = `LANTERN & SONS, 4 Quay Street, Leeds          Invoice no. LS-2026-0417
To: Waterland, Edam                            Leeds, the 3rd of April 2026

  3  storm lantern, brass          at 48.50         145.50
 12  wick, 20 mm                   at  1.25          15.00
  1  repair of a reflector                           62.00
                                    net              222.50
                                    VAT 20 %          44.50
                                    to pay in GBP    267.00
`
const INVOICE_SCHEMA = {
  type: 'object',
  properties: {
    number: { type: 'string' },
    date: { type: 'string', description: 'As 2026-01-31' },
    currency: { type: 'string', description: 'Three capital letters' },
    total: { type: 'number', description: 'What is to be paid, with tax' },
    items: {
      type: 'array',
      items: {
        type: 'object',
        properties: { quantity: { type: 'number' }, amount: { type: 'number', description: 'Of the whole line, without tax' } },
        required: ['quantity', 'amount'],
        additionalProperties: false
      }
    }
  },
  required: ['number', 'date', 'currency', 'total', 'items'],
  additionalProperties: false
}
export const INVOICE_OBJECT = {
  number: 'LS-2026-0417',
  date: '2026-04-03',
  currency: 'GBP',
  total: 267,
  items: [{ quantity: 3, amount: 145.5 }, { quantity: 12, amount: 15 }, { quantity: 1, amount: 62 }]
}

const SYLLABLES = ['ba', 'ke', 'li', 'mo', 'nu', 'ra', 'se', 'ti']
/** 240 unique words of no language. */
export const WORDS = Array.from({ length: 240 }, (_, at) => [at * 5 + 3, at >> 3, at].map((n) => SYLLABLES[n % 8]).join('') + at)
const isReversed = (text: string) => {
  const found = text.match(/\b[a-z]+\d+\b/g) ?? []
  return found.join(' ') === WORDS.toReversed().join(' ')
}

const bill = (number: string, total: string) =>
  makePdf([`Harbour Electric\nBill ${number}\nConsumption 412 kWh\nBasic charge 12.00`, `Total due ${total} EUR\nThank you`])

/** Goals about reading and calculating: tables, logs, documents, long files and long answers. */
export const data: Goal[] = [
  {
    name: 'csv-totals',
    measures: 'right sums of a table with refunds and thousands, in a run that nobody watches',
    files: { 'sales.csv': SALES_CSV },
    options: { interactive: false },
    says: ['What are the total amounts of each region in sales.csv, and of all together? Refunds count as negative amounts.'],
    checks: Object.entries(SALES_TOTALS).map(([name, total]) => answers(`has the total of ${name}, ${total}`, amount(total)))
  },
  {
    name: 'cause-in-log',
    measures: 'the cause in a log of 4,000 lines instead of its loudest lines',
    files: { 'orders.log': LOG },
    says: ['Since tonight many orders fail. orders.log is the log. When did it begin, and what caused it?'],
    checks: [
      answers('has the time at which it began', /\b0?2:17\b/),
      answers('has the cause, the smaller pool of connections', /7c41e|pool[ ._]?size|connection pool|pool of connections/i),
      nothingElse()
    ]
  },
  {
    name: 'big-file',
    measures: 'one line of a file that fits no context window, and the number of its lines',
    files: { 'tickets.txt': TICKETS_TXT },
    says: ['tickets.txt has one ticket per line. What does ticket 48213 say, and how many tickets are there?'],
    checks: [
      answers('has what the ticket says', /marzipan/i),
      answers(`has the number of tickets, ${TICKETS}`, amount(TICKETS)),
      nothingElse()
    ]
  },
  {
    name: 'invoice-object',
    measures: 'a structured answer whose values are right, in a run that nobody watches',
    files: { 'invoice.txt': INVOICE },
    options: { interactive: false },
    schema: INVOICE_SCHEMA,
    says: ['Read the invoice in invoice.txt.'],
    checks: [objectIs(INVOICE_OBJECT)]
  },
  {
    name: 'long-answer',
    measures: 'a long answer that is complete and in order',
    files: { 'words.txt': `${WORDS.join('\n')}\n` },
    says: ['Answer with all words of words.txt in reverse order, one per line and nothing else. Write no file.'],
    checks: [answersThat('has all 240 words in reverse order', isReversed), nothingElse()]
  },
  {
    name: 'pdf-sum',
    measures: 'figures out of several PDFs',
    files: { 'march.pdf': bill('HE-3', '118.40'), 'april.pdf': bill('HE-4', '97.15'), 'may.pdf': bill('HE-5', '104.95') },
    says: ['How much are the three bills in this folder together, and which of them is the highest?'],
    checks: [
      answers('has the sum, 320.50', amount(320.5)),
      answers('names the highest bill', /march|HE-3/i),
      nothingElse(),
      askedNothing
    ]
  }
]
