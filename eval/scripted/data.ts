import { INVOICE_OBJECT, SALES_TOTALS, WORDS } from '../goals/data.ts'
import { call, calls, once, say, write, type Scripts } from './script.ts'

const totals = (of: Record<string, number>) =>
  Object.entries(of).map(([name, total]) => `- ${name}: ${total.toLocaleString('en-US')}`).join('\n')
const withMore = (amount: number) => Object.fromEntries(Object.entries(SALES_TOTALS).map(([name, total]) => [name, total + amount]))
const object = (value: object) => once(call('readFile', { path: 'invoice.txt' }), call('answer', value))
const reversed = WORDS.toReversed().join('\n')

export const data: Record<string, Scripts> = {
  'csv-totals': {
    good: once(call('readFile', { path: 'sales.csv' }), say(totals(SALES_TOTALS))),
    bad: {
      'leaves out refunds': once(say(totals(withMore(80.5)))),
      'wants to run a program, and gives up': once(call('runCommand', { command: 'node sum.js' }), say('I cannot add these numbers.'))
    }
  },
  'cause-in-log': {
    good: once(
      call('searchFiles', { pattern: 'ERROR orders', path: 'orders.log', limit: 1 }),
      call('readFile', { path: 'orders.log', offset: 2_300, limit: 40 }),
      say('It began at 02:17: deploy 7c41e reduced pool.size from 40 to 4, so that orders found no free connection.')
    ),
    bad: {
      'names the loudest line': once(say('Since 02:26 the payment server hangs up.')),
      'cleans the log': once(
        write('orders.log', 'errors only\n'),
        say('At 02:17 the pool size was reduced by deploy 7c41e.')
      )
    }
  },
  'big-file': {
    good: once(
      calls(
        ['searchFiles', { pattern: '^ticket 48213:', path: 'tickets.txt' }],
        ['readFile', { path: 'tickets.txt', offset: 59_600, limit: 40 }]
      ),
      say('It says: the marzipan machine in hall 4 squeaks. There are 59,640 tickets.')
    ),
    bad: {
      'reads the beginning and guesses': once(
        call('readFile', { path: 'tickets.txt' }),
        say('It says that pump 4 in hall 4 was checked. There are about 60,000 tickets.')
      ),
      'writes what it found': once(write('found.txt', 'marzipan\n'), say('It squeaks: the marzipan machine. There are 48,213 tickets.'))
    }
  },
  'invoice-object': {
    good: object(INVOICE_OBJECT),
    bad: {
      'takes the net amount': object({ ...INVOICE_OBJECT, total: 222.5 }),
      'gives text in place of an object': once(say('The total is 267 GBP.'))
    }
  },
  'long-answer': {
    good: once(call('readFile', { path: 'words.txt' }), say(reversed)),
    bad: {
      'leaves out the middle': once(say([...WORDS.toReversed().slice(0, 100), '…', ...WORDS.slice(0, 100).reverse()].join('\n'))),
      'is cut off': once({ text: reversed.slice(0, 900), finishReason: 'length' }),
      'writes a file': once(write('reversed.txt', reversed), say('They are in reversed.txt.'))
    }
  },
  'pdf-sum': {
    good: once(
      calls(...['march.pdf', 'april.pdf', 'may.pdf'].map((path): [string, object] => ['readFile', { path }])),
      say('Together they are 320.50 EUR. The bill of March, HE-3, is the highest.')
    ),
    bad: {
      'takes the charge for the sum': once(say('Together they are 36.00 EUR, and April is the highest.')),
      'writes a table': once(write('sum.csv', '320.50\n'), say('Together they are 320.50 EUR; March is the highest.'))
    }
  }
}
