import t from 'tap'
import { prettyLine } from '../../../services/log/pretty-line.ts'

const time = new Date(2026, 0, 2, 21, 4, 5).getTime()
const plain = (entry: object) => prettyLine(`${JSON.stringify({ level: 30, time, pid: 1, hostname: 'h', ...entry })}\n`, { colours: false })

t.test('shows time, level, message and fields', async (t) => {
  t.equal(plain({ method: 'GET', path: '/tasks', ms: 12, msg: 'request' }), '21:04:05 info  request method=GET path=/tasks ms=12\n')
  t.equal(plain({ level: 50, msg: 'no', err: { stack: 'Error: x\n    at a' } }), '21:04:05 error no\n  Error: x\n      at a\n')
  t.match(prettyLine('{"level":40,"time":0,"msg":"careful"}\n'), /warn .* careful\n$/)
  t.ok(prettyLine('{"level":40,"time":0,"msg":"careful"}\n').includes('\u001b[33mwarn'), 'coloured')
})

t.test('what is no line of the log stays as it is', async (t) => {
  t.equal(prettyLine('Usage: no such option\n'), 'Usage: no such option\n')
  t.equal(prettyLine('{"level": broken\n'), '{"level": broken\n')
})

t.test('shows no character that a terminal would act on', async (t) => {
  const hostile = 'a\u001b]0;owned\u0007\u009b2J\r\u202eb'
  const shown = plain({ msg: hostile, path: hostile, err: { stack: hostile } })
  t.notMatch(shown, /(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
  t.match(shown, /a\\u001b\]0;owned\\u0007\\u009b2J\\u000d\\u202eb/)
  t.equal(prettyLine('not JSON \u001b[2J\n'), 'not JSON \\u001b[2J\n')
})
