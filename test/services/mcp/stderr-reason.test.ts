import t from 'tap'
import { build } from '../../harness/helper.ts'
import { connect } from '../../harness/mcp.ts'
import { progressIn, reasonIn, withReason } from '../../../services/mcp/stderr-reason.ts'

t.test('the line that says why a program ended is found in what it wrote', async (t) => {
  const said: Array<[stderr: string, reason: string | undefined]> = [
    ['', undefined],
    ['\n \n', undefined],
    ['cannot log in\n', 'cannot log in'],
    ['Starting…\nWEATHER_API_KEY is required.\nBye\n', 'WEATHER_API_KEY is required'],
    [
      'file:///srv/index.js:3\n  throw new Error("no key")\n        ^\n\nError: WEATHER_API_KEY is not set\n' +
      '    at main (file:///srv/index.js:3:9)\n    at node:internal/main\n\nNode.js v24.1.0\n',
      'Error: WEATHER_API_KEY is not set'
    ],
    [
      'Traceback (most recent call last):\n  File "/srv/server.py", line 2, in <module>\n    main()\n' +
      "ModuleNotFoundError: No module named 'mcp'\n",
      "ModuleNotFoundError: No module named 'mcp'"
    ],
    [
      'npm warn deprecated x@1.0.0: gone\nnpm error code E404\nnpm error 404 Not Found - GET /no-such-server - Not found\nnpm error 404\n' +
      'npm error A complete log of this run can be found in: /home/ada/.npm/_logs/x.log\n',
      'npm error 404 Not Found - GET /no-such-server - Not found'
    ],
    ['docker: Cannot connect to the Docker daemon.\nSee docker run --help\n', 'docker: Cannot connect to the Docker daemon'],
    ['\u001b[31merror\u001b[0m: unknown option --stdoi\n', 'error: unknown option --stdoi'],
    ['only words\nand more words\n', 'and more words'],
    [`Error: ${'x'.repeat(500)}`, `Error: ${'x'.repeat(193)}…`]
  ]
  for (const [stderr, reason] of said) t.equal(reasonIn(stderr), reason, JSON.stringify(stderr.slice(0, 60)))
  const unknown = 'it ended with exit code 127 (its command was not found)'
  t.equal(withReason(unknown, 'sh: not found'), unknown)
  t.equal(withReason('it was disconnected', 'Error: x'), 'it was disconnected', 'only of a program that ended by itself')
})

t.test('the newest line that tells what a program does while it starts is found, whoever installs it', async (t) => {
  const said: Array<[stderr: string, line: string | undefined]> = [
    ['', undefined],
    [
      'npm warn exec The following package was not found and will be installed: @acme/server@1.2.0\nnpm warn deprecated old@1.0.0: gone\n' +
      'npm notice New version\n',
      'The following package was not found and will be installed: @acme/server@1.2.0'
    ],
    ['npm http fetch GET 200 /@acme%2fserver 120ms (cache miss)\n', 'GET 200 /@acme%2fserver 120ms (cache miss)'],
    ['Resolved 23 packages in 310ms\n\u001b[36mDownloading\u001b[0m numpy (16.1MiB)\n\n', 'Downloading numpy (16.1MiB)'],
    ["Unable to find image 'mcp/time:latest' locally\nlatest: Pulling from mcp/time\n 10%\r 60%\r", 'latest: Pulling from mcp/time'],
    ['Extracting  10%\rExtracting  90%\n------\n', 'Extracting  90%'],
    [`Building ${'x'.repeat(500)}`, `Building ${'x'.repeat(191)}…`]
  ]
  for (const [stderr, line] of said) t.equal(progressIn(stderr), line, JSON.stringify(stderr.slice(0, 60)))
})

t.test('a server that throws at its start is told with its own words', async (t) => {
  const app = await build(t)
  const program = 'console.error("Looking for settings"); throw new TypeError("CITY must be set")'
  t.match((await connect(app, { name: 'weather', command: process.execPath, args: ['--eval', program] })).json(), {
    statusCode: 502,
    error: 'The tool server "weather" is not connected: it ended with exit code 1, and said: TypeError: CITY must be set.'
  })
  const key = 'canary-0123456789'
  const long = 'throw new Error("x".repeat(180) + process.env.KEY)'
  const cut = (await connect(app, { name: 'cut', command: process.execPath, args: ['--eval', long], env: { KEY: key } })).json()
  t.match(cut, { statusCode: 502, error: /and said: Error: x+/ })
  t.notMatch(cut.error, 'canary', 'no part of a secret at which the line is cut')
})
