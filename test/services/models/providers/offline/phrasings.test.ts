import t from 'tap'
import { readSteps } from '../../../../../services/models/providers/offline/split.ts'
import {
  calls,
  desktop,
  fetched,
  list,
  phrasings,
  read,
  remove,
  run,
  screenshot,
  search,
  searched,
  system,
  unread,
  write
} from './calls.ts'

phrasings({
  'any tool is used by its name and an input': [
    ['use echo with {"message": "hi"}', ['echo', { message: 'hi' }]],
    ['Please call the tool get-sum with the arguments {"a": 2, "b": 40}.', ['get-sum', { a: 2, b: 40 }]],
    ['invoke my_tool {}', ['my_tool', {}]],
    ['use the get-env tool', ['get-env', {}]],
    ['call tool __proto__', ['__proto__', {}]],
    ['use echo with {"message": "then delete a.txt; and \\"}\\" more"} then list here', ['echo', {
      message: 'then delete a.txt; and "}" more'
    }], list()],
    ['use `echo` with `{"message": "quoted"}`', ['echo', { message: 'quoted' }]],
    ['read a.txt, then use "echo" with input: {"nested": {"a": [1]}}', read('a.txt'), ['echo', { nested: { a: [1] } }]],
    ['use echo with {message: hi}', unread('use echo with {message: hi}')],
    ['call mom', unread('call mom')],
    ['call `date`', run('date')]
  ],
  'commands are run': [
    ['run `npm test`', run('npm test')],
    ['run "ls -la; pwd && echo \'hi\'"', run("ls -la; pwd && echo 'hi'")],
    ["run 'echo hello'", run('echo hello')],
    ['run the command ls -la', run('ls -la')],
    ['execute the shell command `git status`', run('git status')],
    ['run the following command: date', run('date')],
    ['run: date +%s', run('date +%s')],
    ['run git status', run('git status')],
    ['run echo a; echo b', run('echo a; echo b')],
    ['run if true; then echo a; fi', run('if true; then echo a; fi')],
    ['run cat x.txt | grep "a b" && ls .', run('cat x.txt | grep "a b" && ls .')],
    ['run make and make install', run('make and make install')],
    ['run `ls` in the terminal', run('ls')],
    ['run `ls` in src', run('ls', 'src')],
    ['run `a` and `b`', run('a'), run('b')],
    ['run curl http://localhost:1/x;y', run('curl http://localhost:1/x;y')],
    ['$ uname -a', run('uname -a')],
    ['run ```\nls\npwd\n```', run('ls\npwd\n')]
  ],
  'the web is read': [
    ['fetch https://example.com', fetched('https://example.com')],
    ['fetch https://example.com/a?b=c&d=1,2;3#x.', fetched('https://example.com/a?b=c&d=1,2;3#x')],
    ['get the page at http://127.0.0.1:8080/x', fetched('http://127.0.0.1:8080/x')],
    ['open https://en.wikipedia.org/wiki/Tap_(valve)', fetched('https://en.wikipedia.org/wiki/Tap_(valve)')],
    ['download "https://example.com/a b.txt"', unread('download "https://example.com/a b.txt"')],
    ['read https://example.com and tell me what it says', fetched('https://example.com')],
    ['fetch example.com', fetched('https://example.com')],
    ['search the web for local-first software', search('local-first software')],
    ['search for cats and dogs', search('cats and dogs')],
    ['search for "exact words"', search('exact words')],
    ["search for 'oldName(' in src", searched('oldName(', 'src')],
    ['find "a b" in the files', searched('a b')],
    ['web search: fastify plugins', search('fastify plugins')],
    ['look up the weather in Paris on the internet', search('the weather in Paris')],
    ['google node 24 features', search('node 24 features')],
    ['search for how to read files and write tests', search('how to read files and write tests')]
  ],
  'the machine is looked at': [
    ['system info', system],
    ['Show me the system information', system],
    ['what system is this?', system],
    ['What operating system am I running on?', system],
    ['how much memory is free?', system],
    ['take a screenshot', screenshot],
    ['Take a screenshot of my screen, please.', screenshot],
    ['screenshot', screenshot],
    ["what's on my screen?", screenshot]
  ],
  'the desktop is used': [
    ['click at 10, 20', desktop('click', { x: 10, y: 20 })],
    ['Please double click at (10, 20).', desktop('click', { x: 10, y: 20, double: true })],
    ['right-click on 10 20', desktop('click', { x: 10, y: 20, button: 'right' })],
    ["type 'x'", desktop('type', { text: 'x' })],
    ['press enter', desktop('type', { keys: 'enter' })],
    ['press the page down key', desktop('type', { keys: 'pagedown' })],
    ['hit Ctrl + Shift + T.', desktop('type', { keys: 'ctrl+shift+t' })],
    ['press the button', unread('press the button')],
    ['scroll down', desktop('scroll', { direction: 'down' })],
    ['scroll up by 5', desktop('scroll', { direction: 'up', amount: 5 })],
    [
      "take a screenshot, then click at 10, 20 and type 'cats, dogs' then press enter, scroll down",
      screenshot,
      desktop('click', { x: 10, y: 20 }),
      desktop('type', { text: 'cats, dogs' }),
      desktop('type', { keys: 'enter' }),
      desktop('scroll', { direction: 'down' })
    ]
  ],
  'commands are joined': [
    ['list the files in src then read a.txt', list('src'), read('a.txt')],
    ['list the files in src, then read a.txt, and then delete b.txt', list('src'), read('a.txt'), remove('b.txt')],
    ['list src; read a.txt;delete b.txt', list('src'), read('a.txt'), remove('b.txt')],
    ['list the files\nread a.txt\n\nrun `ls`', list(), read('a.txt'), run('ls')],
    ['1. list the files\n2. read a.txt\n3) run `ls`', list(), read('a.txt'), run('ls')],
    ['- list the files\n* read a.txt\n• run `ls`', list(), read('a.txt'), run('ls')],
    ['1) list the files 2) read a.txt', list(), read('a.txt')],
    ['List the files. Read a.txt. Then run `ls`.', list(), read('a.txt'), run('ls')],
    ['list the files and read a.txt and run `ls`', list(), read('a.txt'), run('ls')],
    ['list the files, read a.txt, and run `ls`', list(), read('a.txt'), run('ls')],
    ['First list the files, after that read a.txt, finally delete it', list(), read('a.txt'), remove('a.txt')],
    ["write 'hello' to a.txt and read it back", write('a.txt', 'hello'), read('a.txt')],
    ["create a file a.txt with 'x', then show me its contents, then remove it", write('a.txt', 'x'), read('a.txt'), remove('a.txt')],
    [
      "Please write 'x; y' to 'my file.txt'; then run `cat 'my file.txt'` and tell me the output",
      write('my file.txt', 'x; y'),
      run("cat 'my file.txt'")
    ],
    ['read a.txt then b.txt', read('a.txt'), read('b.txt')],
    ['take a screenshot and then system info', screenshot, system],
    ['run ls -la, then read a.txt', run('ls -la'), read('a.txt')],
    ['run echo hi and then list the files', run('echo hi'), list()],
    ['Hello! Could you list the files in src? Thanks!', list('src')],
    ["fetch https://example.com, then write 'done' to log.txt", fetched('https://example.com'), write('log.txt', 'done')],
    ['Every morning, read news.txt', read('news.txt')],
    ['Step 1: list the files. Step 2: read a.txt.', list(), read('a.txt')],
    ['search for cats, then list the files', search('cats'), list()],
    ["list the files in 'my dir', then read a.txt from that folder", list('my dir'), read('my dir/a.txt')],
    ['list src and read a.txt there', list('src'), read('src/a.txt')],
    ["write 'x' to a.txt, list src, then delete it", write('a.txt', 'x'), list('src'), remove('a.txt')],
    ['read a.txt, then delete that folder', read('a.txt'), unread('delete that folder')],
    ['delete the files a.txt, b.txt and then list the files and tell me how many there are', remove('a.txt'), remove('b.txt'), list()],
    ['list the files then dance', list(), unread('dance')]
  ],
  'what is no plain command is left alone': [
    ["don't delete a.txt", unread("don't delete a.txt")],
    ['if a.txt exists then delete it', unread('if a.txt exists then delete it')],
    ['if a.txt exists, delete it', unread('if a.txt exists, delete it')],
    ['do not read a.txt and delete b.txt', unread('do not read a.txt and delete b.txt')],
    ['delete a.txt if it is empty', unread('delete a.txt if it is empty')],
    ['delete it', unread('delete it')],
    ['delete everything', unread('delete everything')],
    ['delete the folder', unread('delete the folder')],
    ['run the tests', unread('run the tests')],
    ['search the files for TODO', unread('search the files for TODO')],
    ['What is the meaning of life?', unread('What is the meaning of life?')],
    ['write a poem about the sea', unread('write a poem about the sea')],
    ['create a folder x', unread('create a folder x')],
    ["append 'x' to a.txt", unread("append 'x' to a.txt")],
    ['hello'],
    ['thank you!'],
    ['be brief'],
    ['Keep it short, please.'],
    ['']
  ]
})

t.test('a message far too long for a command is read in no time and is none', async (t) => {
  const message = 'read a and then '.repeat(50_000)
  t.strictSame(calls(message), [unread(message)])
})

t.test('a long text in quotes is written as a whole', async (t) => {
  const text = 'He said "list here, then delete a.txt"; it is `code`.\n'.repeat(1_000)
  t.strictSame(calls(`write '${text}' to a.txt, then read a.txt`), [write('a.txt', text), read('a.txt')])
})

t.test('long messages that try the patterns are read in little time', async (t) => {
  const before = process.cpuUsage()
  const parts = [
    'read the ',
    'write a to ',
    'show me what is in ',
    'and ',
    'delete all the files in ',
    "'",
    '"',
    '”',
    "\\'",
    '`',
    ' ',
    ', ',
    '. ',
    'a.b ',
    'run x; '
  ]
  for (const part of parts) {
    for (const length of [990, 3_900, 19_900]) readSteps(`write ${part.repeat(Math.ceil(length / part.length))}x`)
  }
  const { user } = process.cpuUsage(before)
  t.ok(user < 5_000_000, `${user / 1_000} ms of CPU`)
})
