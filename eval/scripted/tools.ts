import { call, calls, once, say, write, type Scripts } from './script.ts'

export const tools: Record<string, Scripts> = {
  'tool-server': {
    good: once(call('get-structured-content', { location: 'Chicago' }), say('36 degrees and a humidity of 82 %.')),
    bad: {
      'takes another city': once(call('get-structured-content', { location: 'Los Angeles' }), say('73 degrees and a humidity of 48 %.')),
      'notes it in the folder': once(write('weather.txt', '36, 82 %\n'), say('It is in weather.txt.'))
    }
  },
  'app-tool': {
    good: once(
      call('readFile', { path: 'orders.txt' }),
      call('findOrder', { number: 'A-1041' }),
      say('On 2026-07-19; it waits for a part.')
    ),
    bad: {
      'looks up another order': once(calls(['findOrder', { number: 'A-1040' }]), say('On 2026-06-02; it is in production.')),
      'marks the order': once(write('orders.txt', 'A-1041 Okafor asked\n'), say('It is ready soon.'))
    }
  }
}
